"""``logltn mcp`` with the protocol's own client."""

import asyncio
import json
import sys

import pytest

mcp = pytest.importorskip("mcp")
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

THEORY = "sort P\npredicate good(P)\naxiom all: forall x: P. good(x)\n"
MANIFEST = """theory = "t.ltn"
[sorts]
P = { features = "p.csv" }
[predicates]
good = { network = { mlp = [4] }, output = "sigmoid" }
[train]
steps = 3
"""


def test_the_reference_client(tmp_path):
    (tmp_path / "t.ltn").write_text(THEORY)
    (tmp_path / "m.toml").write_text(MANIFEST)
    (tmp_path / "p.csv").write_text("a,b\n0.1,1\n0.9,0\n")
    manifest, run = str(tmp_path / "m.toml"), str(tmp_path / "run")

    async def session():
        server = StdioServerParameters(command=sys.executable, args=["-m", "logltn", "mcp"])
        async with stdio_client(server) as streams, mcp.ClientSession(*streams) as client:
            await client.initialize()
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"check", "query", "explain", "train"} <= names

            async def call(tool, **arguments):
                result = (await client.call_tool(tool, arguments)).model_dump(by_alias=True)
                return result["content"][0]["text"], bool(result.get("isError"))

            text, failed = await call("check", theory=THEORY.replace("good(x)", "bad(x)"))
            assert failed and json.loads(text)["messages"][0]["code"] == "unknown-predicate"
            text, failed = await call("train", manifest=manifest, out=run, steps=3)
            assert not failed, text
            text, failed = await call("query", manifest=manifest, run=run, formula="find x: P. good(x)", top=1)
            assert not failed and json.loads(text)["total"] == 2
            text, failed = await call("explain", manifest=manifest, run=run)
            assert not failed and json.loads(text)["axioms"][0]["name"] == "all"

    asyncio.run(asyncio.wait_for(session(), 120))
