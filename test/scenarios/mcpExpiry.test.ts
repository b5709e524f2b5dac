import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { legacyClient, modernRequest, wireClient } from './mcpClient.ts';
import { createMovableClock } from './movableClock.ts';
import { createPeople, type Person } from './people.ts';
import { http, yamlWith } from './serverYaml.ts';

const MINUTE = 60_000;
const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };

describe('what the MCP endpoint seals ends by itself', () => {
  let upstream: ScriptedHttpServer;
  let gateway: InProcessGateway;
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function begin() {
    const question = { one: { method: 'elicitation/create', params: form } };
    const asking = {
      name: 'asking',
      handler: (_: object, call: { params: Readonly<Record<string, unknown>> }) =>
        call.params['inputResponses'] === undefined
          ? { resultType: 'input_required', inputRequests: question, requestState: 'own' }
          : { content: [] },
    };
    upstream = await scriptedHttpServer({ era: 'modern', tools: [asking] });
    const clock = createMovableClock();
    gateway = await startInProcess({}, yamlWith({ files: http(upstream.url) }), clock);
    const [ada] = (await createPeople(gateway, ['Ada'])) as [Person];
    return { clock, client: await wireClient(ada, gateway.url) };
  }

  test('after a day', async () => {
    const { clock, client } = await begin();
    const session = await legacyClient(client);
    clock.move(24 * 60 * MINUTE - MINUTE);
    expect((await session.request('ping')).status).toBe(200);
    clock.move(2 * MINUTE);
    expect((await session.request('ping')).status).toBe(404);
  });

  test('after a quarter of an hour', async () => {
    const { clock, client } = await begin();
    const ask = async (more: object = {}) => {
      const params = { name: 'files__asking', ...more };
      return (await modernRequest(client, 'tools/call', params, { capabilities: { elicitation: {} } }))
        .answer;
    };
    const { requestState } = (await ask()).result as { requestState: string };
    const retry = { requestState, inputResponses: { one: { action: 'accept' } } };
    clock.move(14 * MINUTE);
    expect((await ask(retry)).result).toMatchObject({ resultType: 'complete' });
    clock.move(2 * MINUTE);
    expect((await ask(retry)).error?.code).toBe(-32602);
  });
});
