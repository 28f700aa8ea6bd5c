# SPDX-License-Identifier: BSD-3-Clause
"""Types of messages that neither rosbags nor iap_msgs defines, as far as the suite reads or writes them."""

PACKET = "ffmpeg_image_transport_msgs/msg/FFMPEGPacket"
DEFINITIONS = {
    PACKET: """\
std_msgs/Header header
int32 width
int32 height
string encoding
uint64 pts
uint8 flags
bool is_bigendian
uint8[] data
""",
}
