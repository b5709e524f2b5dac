import { describe, expect, test } from '@jest/globals';
import { startCall, openFakeChannel } from '../../../test/fakeChannel.ts';
import type { Dialogue } from '../dialogue.ts';
import type { JsonObject } from '../upstream.ts';

const form = { message: 'Your name?', requestedSchema: {} };
const accepted = { action: 'accept', content: { name: 'Ann' } };
const turns = () => new Promise((resolve) => setImmediate(resolve));

/** One who answers when the test says so. */
function someone() {
  const prompts: {
    params: JsonObject;
    signal: { readonly aborted: boolean };
    answer(result: JsonObject): void;
  }[] = [];
  const dialogue: Dialogue = {
    era: 'legacy',
    capabilities: { elicitation: { form: {} } },
    sendRequest: (_method, params, signal) =>
      new Promise((answer) => prompts.push({ params, signal, answer })),
  };
  return { prompts, dialogue };
}

describe('a question over a channel', () => {
  const question = (id: string) => ({ id, method: 'elicitation/create', params: form });

  test('reaches its owner in the only call under way', async () => {
    const rig = await openFakeChannel({ owner: 'user-1' });
    expect(rig.channel.sentWith('initialize')[0]!['params']).toMatchObject({
      capabilities: { elicitation: { form: {}, url: {} } },
    });
    const { prompts, dialogue } = someone();
    const call = startCall(rig, { dialogue });
    rig.channel.receive(question('q-1'));
    expect(prompts.map(({ params }) => params)).toEqual([form]);
    prompts[0]!.answer(accepted);
    await turns();
    expect(rig.channel.sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 'q-1', result: accepted });
    rig.channel.receive(question('q-2'));
    rig.channel.receive({ method: 'notifications/cancelled', params: { requestId: 'q-2' } });
    expect(prompts[1]!.signal.aborted).toBe(true);
    rig.channel.receive(question('q-3'));
    rig.channel.receive({ id: call.id, result: {} });
    expect(prompts[2]!.signal.aborted).toBe(true);
    await call.outcome;
  });

  for (const [what, owner, calls] of [
    ['on a shared channel', undefined, 1],
    ['with two calls under way', 'user-1', 2],
    ['with none under way', 'user-1', 0],
  ] as const) {
    test(`${what} reaches nobody`, async () => {
      const rig = await openFakeChannel({ owner });
      const { prompts, dialogue } = someone();
      for (let n = 0; n < calls; n += 1) startCall(rig, { dialogue });
      rig.channel.receive(question('q-1'));
      expect(rig.channel.sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 'q-1', result: { action: 'cancel' } });
      expect(prompts).toEqual([]);
      const shared = { capabilities: {} };
      if (owner === undefined) expect(rig.channel.sentWith('initialize')[0]!['params']).toMatchObject(shared);
    });
  }

  test('may take its time, but not for ever', async () => {
    const rig = await openFakeChannel({ owner: 'user-1' });
    const { prompts, dialogue } = someone();
    const limits = { timeoutMs: 1_000, totalMs: 2_000, dialogue };
    const patient = startCall(rig, limits);
    rig.channel.receive(question('q-1'));
    await rig.clock.advance(500_000);
    prompts[0]!.answer(accepted);
    await turns();
    await rig.clock.advance(500);
    rig.channel.receive({ id: patient.id, result: { content: [] } });
    expect(await patient.outcome).toEqual({ result: { content: [] } });
    const silent = startCall(rig, limits);
    rig.channel.receive(question('q-2'));
    await rig.clock.advance(500_000);
    prompts[1]!.answer(accepted);
    await turns();
    await rig.clock.advance(1_000);
    expect(await silent.outcome).toMatchObject({ error: { reason: 'timeout' } });
    const endless = startCall(rig, limits);
    rig.channel.receive(question('q-3'));
    await rig.clock.advance(600_000);
    expect(await endless.outcome).toMatchObject({ error: { reason: 'timeout' } });
  });
});
