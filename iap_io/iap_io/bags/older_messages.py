# SPDX-License-Identifier: BSD-3-Clause
"""Messages of this suite's types as another version defined them, brought into today's definition.

A recording has the definitions of its messages. Fields that were unknown then become zero or empty, and those that are
gone are left out.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from rosbags.interfaces import Connection, Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from iap_io.wire.cdr import message, message_types, serialised

MESSAGE_PREFIX = "iap_msgs/"
AS_MANY = {
    ("iap_msgs/msg/PlatformState", "rotor_tilt"): "rotor_rpm"
}  # unknown field -> one with as many entries
Renewal = Callable[[bytes], bytes]


def renewal(connection: Connection) -> Renewal | None:
    """The conversion of a topic's messages into today's definition, None where they are in it.

    Raises:
        Exception: of rosbags, whatever a damaged definition leads to.
    """
    name = connection.msgtype
    is_known = name.startswith(MESSAGE_PREFIX) and name in message_types().fielddefs
    if not is_known or not connection.msgdef.data or _is_of_today(connection):
        return None
    store = _store_of(connection)
    return lambda data: serialised(_renewed(store.deserialize_cdr(data, name), name))


def _is_of_today(connection: Connection) -> bool:
    """True if the hash of the definition, where the recording has one, is today's."""
    return connection.digest in ("", message_types().hash_rihs01(connection.msgtype))


def _store_of(connection: Connection) -> Typestore:
    """Message types as they were when a recording was made."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = get_types_from_msg(connection.msgdef.data, connection.msgtype)
    store.register({name: each for name, each in types.items() if name.startswith(MESSAGE_PREFIX)})
    return store


def _renewed(old: object, name: str) -> object:
    """A message of today's type with what an older one has of its fields."""
    fields = message_types().fielddefs[name][1]
    known: dict[str, Any] = {
        field: _value(getattr(old, field), *kind) for field, kind in fields if hasattr(old, field)
    }
    for (of, field), like in AS_MANY.items():
        if of == name and field not in known:
            known[field] = np.zeros(len(known[like]))
    return message(name, **known)


def _value(old: Any, kind: Nodetype, detail: Any) -> object:  # noqa: ANN401 - of any message
    if kind == Nodetype.NAME:
        return _renewed(old, detail)
    if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE) and detail[0][0] == Nodetype.NAME:
        return [_renewed(each, detail[0][1]) for each in old]
    return old
