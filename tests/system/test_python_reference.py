# SPDX-License-Identifier: BSD-3-Clause
"""What the build of the site leaves out for the reference of Python changes no page."""

import pickle
import runpy
from collections import namedtuple
from types import SimpleNamespace

import pytest
from pages import ROOT

Entry = namedtuple("Entry", "objtype")
OBJECTS = {name: Entry("class") for name in ("a.Pose", "b.Pose", "b.Poses", "b.Pose.p", "Twist")}


@pytest.fixture(scope="module")
def tool():
    return SimpleNamespace(
        **runpy.run_path(str(ROOT / "tools" / "documentation" / "python_reference.py"))
    )


def test_objects_stay_in_the_process_that_has_them(tool):
    kept = tool.StaysHere(a=1)
    assert kept["a"] == 1
    assert pickle.loads(pickle.dumps(kept)) == {}


def test_a_module_leaves_out_what_it_imports_and_a_package_does_not(tool):
    def read(kind, names):
        children = [{"type": "class", "name": "Own"}, {"type": "placeholder", "name": "Other"}]
        return {"type": kind, "all": names, "children": children}

    read_file = tool.without_imports(read)
    assert [each["name"] for each in read_file("module", None)["children"]] == ["Own"]
    assert len(read_file("package", None)["children"]) == 2
    assert len(read_file("module", ["Other"])["children"]) == 2
    assert tool.without_imports(lambda: None)() is None


def find(domain, env, module, owner, name, role, mode):
    """As Sphinx looks for a name: in the module, then as it stands, then anywhere."""
    if f"{module}.{name}" in domain.objects:
        return [f"{module}.{name}"]
    return [each for each in domain.objects if each == name or each.endswith(f".{name}")]


@pytest.mark.parametrize("name", ["Pose", "Pose.p", "Twist", "a.Pose", "Nobody", "b.Pose()"])
@pytest.mark.parametrize("mode", [0, 1])
def test_an_object_is_found_among_those_of_its_name_as_among_all(tool, name, mode):
    domain = SimpleNamespace(objects=dict(OBJECTS), object_types={}, objtypes_for_role=list)
    find_obj, name = tool.among_namesakes(find), name.removesuffix("()")
    query = (None, "b", "", name, None, mode)
    assert find_obj(domain, *query) == find(domain, *query)
    domain.objects["c.Nobody"] = Entry("class")
    assert find_obj(domain, *query) == find(domain, *query)


def test_the_pages_of_modules_share_one_tree_with_links_of_their_own(tool):
    made = []

    def tree(folder):
        def make(**options):
            made.append(folder)
            return f'<a href="{folder}limits.html#x">here</a><a href="https://a.org">there</a>'

        return make

    sidebar = tool.Sidebar()
    pages = {
        "reference/python/a/b/index": "../../../",
        "reference/python/a/b/c/index": "../../../../",
    }
    for page, folder in pages.items():
        context = {"toctree": tree(folder)}
        sidebar.share(None, page, "page.html", context, None)
        up = "../" * page.count("/")
        assert f'href="{up}reference/limits.html#x"' in context["toctree"](collapse=False)
        assert 'href="https://a.org"' in context["toctree"](collapse=False)
    assert len(made) == 1
    own = {"toctree": tree("../")}
    sidebar.share(None, "reference/python/a/index", "page.html", own, None)
    assert "../limits.html" in own["toctree"]()
