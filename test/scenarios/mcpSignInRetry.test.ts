import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createGrantScenes } from './grantScene.ts';
import { legacyClient, modernRequest, wireClient, type WireClient } from './mcpClient.ts';
import type { Person } from './people.ts';

const scenes = createGrantScenes();
const capabilities = { elicitation: { url: {} } };

/** Everything for which a user can be sent to a page first, at the endpoint of all servers. */
const requests = [
  ['tools/call', { name: 'notes__echo', arguments: { a: 1 } }],
  ['prompts/get', { name: 'notes__greet' }],
  ['resources/read', { uri: 'behalf:notes/x:1' }],
] as const;

describe('a call that waits for its user to connect a server', () => {
  async function begin() {
    const scene = await scenes({
      names: ['Ada', 'Bob'],
      mcp: {
        capabilities: { tools: {}, prompts: {}, resources: {} },
        methods: {
          'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
          'prompts/get': () => ({ messages: [] }),
          'resources/read': () => ({ contents: [{ uri: 'x:1', text: '1' }] }),
        },
      },
    });
    const [ada, bob] = scene.people as [Person, Person];
    return { ...scene, ada, bob, client: await wireClient(ada, scene.gateway.url) };
  }

  /** Asks, and gives what came, and the same request as a client sends it after the page. */
  async function asked(client: WireClient, method: string, params: object) {
    const { answer } = await modernRequest(client, method, { ...params }, { capabilities });
    const { requestState } = answer.result ?? {};
    const accepted = { requestState, inputResponses: { connect: { action: 'accept' } } };
    return { kind: answer.result?.['resultType'], result: answer.result, again: { ...params, ...accepted } };
  }

  test('it goes on with what their sign-in gave, at any replica', async () => {
    const { ada, bob, client, connect, mcp, beside } = await begin();
    const ran = () =>
      mcp.guardedRequests.filter(({ request }) =>
        requests.some(([method]) => method === request.message?.method),
      );
    const retries: [method: string, again: object][] = [];
    for (const [method, params] of requests) {
      const first = await asked(client, method, params);
      expect([method, first.kind]).toEqual([method, 'input_required']);
      retries.push([method, first.again]);
    }
    // That a page was opened is the client's word. What counts is whether this user has connected.
    await connect(bob);
    for (const [index, [method, again]] of retries.entries()) {
      const still = await asked(client, method, again);
      expect([method, still.kind]).toEqual([method, 'input_required']);
      retries[index] = [method, still.again];
    }
    expect(ran()).toEqual([]);
    await connect(ada);
    const [there] = (await beside()) as [Person];
    const elsewhere = await wireClient(there, new URL((await there.get('/live')).url).origin);
    for (const [method, again] of retries) {
      for (const at of [client, elsewhere]) {
        const { kind } = await eventually('the other replica has heard of it', async () => {
          const now = await asked(at, method, again);
          return now.kind === 'complete' ? now : null;
        });
        expect([method, kind]).toEqual([method, 'complete']);
      }
    }
    const bearers = new Set(ran().map(({ bearer }) => bearer));
    expect([ran().length, bearers.size]).toEqual([2 * requests.length, 1]);
  });

  test('and so does a client with a session', async () => {
    const { ada, client, connect } = await begin();
    const legacy = await legacyClient(client, { capabilities });
    for (const [method, params] of requests)
      expect((await legacy.request(method, params)).answer.error?.code).toBe(-32_042);
    await connect(ada);
    for (const [method, params] of requests) {
      const { answer } = await legacy.request(method, params);
      expect([method, answer.error, typeof answer.result]).toEqual([method, undefined, 'object']);
    }
  });
});
