# SPDX-License-Identifier: BSD-3-Clause
"""A page shows its flight in even steps of time, with what its script is told and small images of its cameras."""

import base64
import json
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from made_up_pages import Server

from iap_bringup.viewing import page
from iap_bringup.viewing.legend import Meaning
from iap_bringup.viewing.page import PageStage, _data_url, _size, _thumbnails, write_page


class Serializer:
    """A recording of a page in the making."""

    def __init__(self):
        self._messages, self._time, self.sleeps = [], 0.0, []

    def insert_sleep(self, seconds):
        self._time += seconds
        self.sleeps.append(seconds)

    def as_html(self):
        return "<html><body>page</body></html>"


@pytest.fixture
def written(monkeypatch, tmp_path):
    """Writes the page of a flight of some span; returns its text, its recording and the times that were shown."""

    def write(first, last):
        server, serializer, times = Server(), Serializer(), []
        server.get_scene_serializer = lambda: serializer
        scene = SimpleNamespace(add=lambda stage: stage.add_frame("world"))
        monkeypatch.setattr(page, "open_server", lambda port, label: server)
        monkeypatch.setattr(page, "FlightScene", lambda *a, **k: scene)
        monkeypatch.setattr(page, "add_paths", lambda *a: None)
        monkeypatch.setattr(
            page, "initial_view", lambda points, rig: ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
        )
        monkeypatch.setattr(
            page, "legend_of", lambda meta, couplings: [Meaning((1, 2, 3), "thrust")]
        )
        monkeypatch.setattr(
            page, "events_of", lambda run: [SimpleNamespace(t=1.5, text="caught </script>")]
        )

        def show(scene, stage, t):
            times.append(t)
            stage.place("world", np.array([t, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))

        source = SimpleNamespace(
            title="a run",
            rig=None,
            couplings=(),
            span=(first, last),
            show=show,
            run=None,
            meta=SimpleNamespace(
                sensors=[], vehicles=[SimpleNamespace(name="iap", bodies=("base",))]
            ),
            paths=([np.array([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0]])], []),
            steps=lambda t: [SimpleNamespace(x=np.ones((1, 13)))],
        )
        write_page(source, tmp_path / "view.html")
        assert server.stopped == 1 and server.initial_camera.look_at == (4.0, 5.0, 6.0)
        return (tmp_path / "view.html").read_text(), serializer, times

    return write


def test_a_flight_of_a_minute_has_twenty_pictures_a_second_and_a_longer_one_as_many_in_all(
    written,
):
    _, serializer, times = written(1.0, 3.0)
    np.testing.assert_allclose(times[1:], 1.0 + 0.05 * np.arange(40))
    assert times[0] == 1.0 and serializer.sleeps == pytest.approx([0.05] * 40)
    _, serializer, times = written(0.0, 240.0)
    assert len(serializer.sleeps) == 1200 and serializer.sleeps[0] == pytest.approx(0.2)
    _, serializer, _ = written(0.0, 59.0)
    assert len(serializer.sleeps) == 1180


def test_moves_are_recorded_at_their_times_and_the_clock_with_them(written):
    _, serializer, _ = written(1.0, 1.2)
    moves = [
        (t, m["name"], m["position"])
        for t, m in serializer._messages
        if m["type"] == "SetPositionMessage"
    ]
    clock = [(t, position[0]) for t, name, position in moves if name == "/clock"]
    np.testing.assert_allclose(clock, [(0.05 * k, 1.0 + 0.05 * k) for k in range(4)])
    world = [position[0] for _, name, position in moves if name == "/world"]
    assert world == pytest.approx(
        [1.05, 1.1, 1.15]
    )  # where it stood at first is in the page itself


def test_the_script_is_informed_of_colours_events_and_size(written):
    text, _, _ = written(0.0, 0.2)
    start = text.index("window.IAP_FLIGHT=") + len("window.IAP_FLIGHT=")
    flight = json.JSONDecoder().raw_decode(text[start:])[0]
    assert flight == {
        "title": "a run",
        "vehicle": "/world/bodies/iap/base",
        "home": [1.0, 1.0, 1.0],
        "begin": 0.0,
        "end": 0.2,
        "from": pytest.approx([-(3.0**-0.5)] * 3),
        "legend": [[[1, 2, 3], "thrust"]],
        "size": 5.0,
        "events": [[1.5, "caught </script>"]],
        "images": {},
    }
    assert text.endswith("</body></html>") and "caught <\\/script>" in text


def test_every_change_is_a_message_once_a_recording_is_begun():
    server = Server()
    stage = PageStage(server)
    stage.add_frame("a")
    (node,) = server.scene.of("frame")
    pose = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9])
    stage.place("a", pose)
    stage.stretch("a", 2.0)
    stage.show("a", visible=True)
    assert node.position == (1.0, 2.0, 3.0) and node.scale == 2.0 and node.visible is True
    stage.recording = Serializer()
    stage.recording._time = 7.5
    stage.place("a", pose + 1.0)
    stage.stretch("a", 3.0)
    stage.show("a", visible=False)
    stage.place("a", pose + 1.0 + 1.9e-4)  # too little to be seen
    assert [(t, m["type"]) for t, m in stage.recording._messages] == [
        (7.5, "SetPositionMessage"),
        (7.5, "SetOrientationMessage"),
        (7.5, "SceneNodeUpdateMessage"),
        (7.5, "SetSceneNodeVisibilityMessage"),
    ]
    messages = [m for _, m in stage.recording._messages]
    assert messages[0]["position"] == (2.0, 3.0, 4.0) and messages[1]["wxyz"] == pytest.approx(
        (1.9, 1.1, 1.2, 1.3)
    )
    assert messages[2]["updates"] == {"scale": 3.0} and messages[3]["visible"] is False
    assert all(m["name"] == "/a" for m in messages) and node.position == (1.0, 2.0, 3.0)


def test_small_images_have_their_width_and_come_once_in_a_while(monkeypatch):
    picture = np.zeros((120, 320, 3), np.uint8)
    picture[..., 0] = 255
    url = _data_url(picture)
    small = cv2.imdecode(
        np.frombuffer(base64.b64decode(url.partition(",")[2]), np.uint8), cv2.IMREAD_COLOR
    )
    assert url.startswith("data:image/jpeg;base64,") and small.shape == (60, 160, 3)
    assert small[30, 80, 2] > 200 and small[30, 80, 0] < 60  # red stays red
    flat = base64.b64decode(_data_url(np.zeros((2, 2000, 3), np.uint8)).partition(",")[2])
    assert cv2.imdecode(np.frombuffer(flat, np.uint8), cv2.IMREAD_COLOR).shape == (1, 160, 3)
    camera = page.CameraSensorInfo.model_construct(topic="/a/left")
    readings = [
        SimpleNamespace(t=0.1 * k, source=SimpleNamespace(topic="/a/left")) for k in range(30)
    ]
    monkeypatch.setattr(page, "_images", lambda source, cameras: iter(readings))
    monkeypatch.setattr(page, "as_picture", lambda reading: picture)
    source = SimpleNamespace(meta=SimpleNamespace(sensors=[camera]), span=(0.0, 3.0))
    times = [t for t, _ in _thumbnails(source)["a/left"]]
    assert times == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    source.span = (0.0, 1200.0)  # no more than 600 of all cameras
    assert [t for t, _ in _thumbnails(source)["a/left"]] == pytest.approx([0.0, 2.0])
    assert _thumbnails(SimpleNamespace(meta=SimpleNamespace(sensors=[]))) == {}
    assert _size([np.array([[0.0, 0.0, 0.0]]), np.array([[3.0, 0.0, 4.0]])]) == 5.0
    assert page._direction(np.array([0.0, 3.0, 4.0])) == pytest.approx([0.0, 0.6, 0.8])
