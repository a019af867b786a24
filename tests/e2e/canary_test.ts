/**
 * Proves that a secret which a person types for an MCP server is in no log, table, event, prompt, topic or file: it is sealed where it comes in and
 * opened in the toolbox's memory.
 */
import assert from "node:assert/strict";
import { World } from "./world.ts";

const CANARY = "canary-7f3a9c-never-stored";

/** A server whose one tool wants a name, a password by its description, and a number; keeps of the password only its length, and says that. */
const SERVER = `
import sys, json
waiting = None
def send(m): print(json.dumps({'jsonrpc': '2.0', **m}), flush=True)
for line in sys.stdin:
  m = json.loads(line)
  method = m.get('method')
  if method == 'initialize':
    send({'id': m['id'], 'result': {'protocolVersion': m['params']['protocolVersion'], 'capabilities': {'tools': {}},
      'serverInfo': {'name': 'vault', 'version': '1'}}})
  elif method == 'tools/list':
    send({'id': m['id'], 'result': {'tools': [{'name': 'login', 'description': 'logs in', 'inputSchema': {'type': 'object'}}]}})
  elif method == 'tools/call':
    waiting = m['id']
    send({'id': 'ask', 'method': 'elicitation/create', 'params': {'message': 'Log in', 'requestedSchema': {
      'type': 'object', 'properties': {'user': {'type': 'string'}, 'value': {'type': 'string', 'description': 'your password'},
      'days': {'type': 'integer', 'default': 7}}, 'required': ['user', 'value']}}})
  elif m.get('id') == 'ask':
    content = m['result'].get('content', {})
    send({'id': waiting, 'result': {'content': [{'type': 'text', 'text': '%s has a secret of %d letters for %d days' %
      (content.get('user'), len(content.get('value', '')), content.get('days', 0))}]}})
`;

Deno.test("a secret that an MCP server asks for reaches it and is found nowhere else", async () => {
  const server = { kind: "stdio", name: "vault", command: "/usr/bin/python3", args: ["-c", SERVER] };
  await using world = await World.open({ file: { mcpServers: [server] } });
  await world.until(async () => {
    const { tools } = await world.get<{ tools: { name: string }[] }>("/api/tools");
    return tools.some((tool) => tool.name === "mcp__vault__login");
  });

  world.zulip.say("King Hamlet", "general", "vault", "@**Callboard** log in\ntool:mcp__vault__login {}");
  const call = await world.waiting((item) => item.kind === "approval");
  await world.decide(call, "allow_once");
  const question = await world.waiting((item) => item.kind === "elicitation");
  const refused = await world.decide(question, "answer", { content: { value: CANARY } });
  const content = { user: "hamlet", value: CANARY, days: "30" };
  const answered = await world.decide(question, "answer", { content });
  await world.answered("vault", new RegExp(`hamlet has a secret of ${CANARY.length} letters for 30 days`));
  await world.quiet();

  assert.equal(question.secret, true);
  assert.equal(refused.status, 400);
  const shown = [
    await refused.text(),
    await answered.text(),
    JSON.stringify(await world.get("/api/inbox")),
    JSON.stringify(await world.get("/api/audit?limit=500")),
    JSON.stringify(await world.get(`/api/conversations/${call.conversation.id}/events`)),
    JSON.stringify(world.model.requests),
    JSON.stringify(world.zulip.messagesIn("general", "vault")),
    world.supervisor.output(),
  ];
  for (const text of shown) assert.ok(text.length > 2 && !text.includes(CANARY));
  await world.supervisor.stop("SIGTERM");
  assert.deepEqual(await filesWith(world.folder, CANARY), []);
  assert.ok(
    (await filesWith(world.folder, "mcp__vault__login")).length > 0,
    "the search finds what is stored",
  );
  await world.start();
});

/** The files below a folder that hold a text. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...await filesWith(path, text));
    else if (entry.isFile && new TextDecoder("latin1").decode(await Deno.readFile(path)).includes(text)) {
      found.push(path);
    }
  }
  return found;
}
