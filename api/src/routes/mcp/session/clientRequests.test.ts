import { LightCancellation, createKeyring, systemRandom as random } from '@behalf/kernel';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createMailbox } from '../relay/mailbox.ts';
import { createClientRequests } from './clientRequests.ts';
import type { McpSession } from './sessions.ts';

const session = (key: string, principal = 'ada'): McpSession => ({
  ...{ id: '', key, version: '2025-11-25', capabilities: {}, expiresAt: 0 },
  sessionKey: { tenant: 'default', principal, key },
});

/** Two replicas with one store. */
function replicas() {
  const clock = createFakeClock();
  const keyring = createKeyring([random.bytes(32)], random);
  const sharedCache = new Map<string, string>();
  const cache = {
    get: async (key: string) => sharedCache.get(key),
    set: async (key: string, value: string) => void sharedCache.set(key, value),
    delete: async (key: string) => sharedCache.delete(key),
    clear: async () => sharedCache.clear(),
  };
  const changes = { publish: async () => undefined, subscribe: () => () => undefined, syncedUntil: () => 0 };
  const replica = () =>
    createClientRequests({
      mailbox: createMailbox({ cache, changes, keyring, clock }),
      keyring,
      clock,
      random,
    });
  return { clock, sharedCache, here: replica(), there: replica() };
}

describe('questions to clients with a session', () => {
  test('nor does it leave anything in the store', async () => {
    const { clock, sharedCache, here, there } = replicas();
    let request = '';
    const reply = {
      ...{ isStarted: true, notify: () => undefined, finish: () => undefined },
      ...{ abandon: () => undefined, close: () => undefined, canSendRequests: true },
      sendRequest: (id: string | number) => ((request = String(id)), true),
    };
    const own = session('one');
    const answer = here.createSender(own, reply)('elicitation/create', {}, new LightCancellation());
    const [nonce, ...proof] = request.split('.');
    const says = (id: string) => ({ kind: 'response', id, outcome: { result: { id } } }) as const;
    for (const [by, id] of [
      [own, 'made-up'],
      [own, `${random.id()}.${proof.join('.')}`],
      [own, `${nonce}.v1.00000000.x`],
      [session('two'), request],
      [session('one', 'bob'), request],
    ] as const) {
      await there.handleResponse(by, says(id));
      expect([id, sharedCache.size]).toEqual([id, 0]);
    }
    await there.handleResponse(own, says(request));
    // What a person answered is not kept for others to read.
    expect(JSON.stringify([...sharedCache])).not.toContain('result');
    await clock.advance(2_000);
    expect(await answer).toEqual({ id: request });
    expect(sharedCache.size).toBe(0);
  });
});
