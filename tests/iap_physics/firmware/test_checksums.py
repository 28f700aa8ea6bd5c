# SPDX-License-Identifier: BSD-3-Clause
"""Checksums of MAVLink are those of its specification."""

from iap_physics.firmware.px4.mavlink import checksum


def by_bits(text):
    """CRC-16/MCRF4XX by its definition."""
    value = 0xFFFF
    for byte in text:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x8408 if value & 1 else 0)
    return value


def test_a_checksum_is_crc_16_mcrf4xx_low_byte_first():
    """0x6F91 is the check value of the catalogue of CRCs, of nine digits."""
    assert checksum(b"12345678", ord("9")) == (0x6F91).to_bytes(2, "little")
    for data in (b"", b"A", bytes(range(256))):
        assert checksum(data, 50) == by_bits(data + bytes((50,))).to_bytes(2, "little")
