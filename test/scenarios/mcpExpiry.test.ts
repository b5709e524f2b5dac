import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createLegacyClient, sendModern, createWireClient } from './mcpClient.ts';
import { createAdjustableClock } from './adjustableClock.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

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
    const clock = createAdjustableClock();
    gateway = await startInProcess({}, renderYaml({ files: httpDefinition(upstream.url) }), clock);
    const [ada] = (await createUsers(gateway, ['Ada'])) as [TestUser];
    return { clock, client: await createWireClient(ada, gateway.url) };
  }

  test('after a day', async () => {
    const { clock, client } = await begin();
    const session = await createLegacyClient(client);
    clock.advance(24 * 60 * MINUTE - MINUTE);
    expect((await session.request('ping')).status).toBe(200);
    clock.advance(2 * MINUTE);
    expect((await session.request('ping')).status).toBe(404);
  });

  test('after a quarter of an hour', async () => {
    const { clock, client } = await begin();
    const ask = async (more: object = {}) => {
      const params = { name: 'files__asking', ...more };
      return (await sendModern(client, 'tools/call', params, { capabilities: { elicitation: {} } })).message;
    };
    const { requestState } = (await ask()).result as { requestState: string };
    const retry = { requestState, inputResponses: { one: { action: 'accept' } } };
    clock.advance(14 * MINUTE);
    expect((await ask(retry)).result).toMatchObject({ resultType: 'complete' });
    clock.advance(2 * MINUTE);
    expect((await ask(retry)).error?.code).toBe(-32602);
  });
});
