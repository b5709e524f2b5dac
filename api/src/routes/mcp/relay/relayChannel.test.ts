import { createKeyring, systemRandom as random } from '@behalf/kernel';
import { createFakeClock } from '@behalf/testkit';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { describe, expect, test } from '@jest/globals';
import { type Mailbox, createMailbox } from './mailbox.ts';
import { createRelayWriter, openRelayReader } from './relayChannel.ts';

const sessionKey = { tenant: 'default', principal: 'ada', key: 'session' };

function rig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random });
  const cache = store.cache('mcp');
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const createParts = () => ({
    cache,
    clock,
    mailbox: createMailbox({ cache, changes: store.changes, keyring, clock }) as Pick<
      Mailbox,
      'post' | 'wait'
    >,
  });
  const [holder, reader] = [createParts(), createParts()];
  const pending: string[] = [];
  const state = { received: [] as string[], lost: 0, cancelled: 0, requests: 0 };

  const openReader = () =>
    openRelayReader(reader, sessionKey, 'attempt', {
      holderTimeoutMs: 6_000,
      sendRequest: async () => void (state.requests += 1),
      onMessage(text) {
        state.received.push(text);
        return text === 'last';
      },
      onLost: () => (state.lost += 1),
    });
  const openWriter = () => {
    const writer = createRelayWriter(holder, sessionKey, 'attempt', {
      takeMessage() {
        const text = pending.shift();
        return text === undefined ? undefined : { text, isLast: text === 'last' };
      },
      onCancelled: () => (state.cancelled += 1),
    });
    const send = (...texts: string[]) => {
      pending.push(...texts);
      writer.flush();
    };
    return { writer, send };
  };
  return { clock, holder, state, openReader, openWriter };
}

describe('the relay between replicas', () => {
  test('delivers messages in order and closes after the last one', async () => {
    const { clock, state, openReader, openWriter } = rig();
    openReader();
    const { writer, send } = openWriter();
    send('one', 'two', 'last');
    await clock.advance(5_000);
    expect(state).toMatchObject({ received: ['one', 'two', 'last'], lost: 0, requests: 1 });
    expect(writer.isClosed).toBe(true);
  });

  test('repeats a message that may not have been stored, and delivers it once', async () => {
    const { clock, holder, state, openReader, openWriter } = rig();
    openReader();
    const { send } = openWriter();
    const post = holder.mailbox.post.bind(holder.mailbox);
    let failures = 2;
    holder.mailbox.post = async (...args) => {
      failures -= 1;
      // The first attempt stores the message, the second does not.
      if (failures !== 0) await post(...args);
      if (failures >= 0) throw new Error('The store does not answer');
    };
    send('one', 'last');
    await clock.advance(10_000);
    expect(state).toMatchObject({ received: ['one', 'last'], lost: 0 });
  });

  test('reports a holder that never opens the channel', async () => {
    const { clock, state, openReader } = rig();
    openReader();
    await clock.advance(5_000);
    expect(state.lost).toBe(0);
    await clock.advance(3_000);
    expect(state.lost).toBe(1);
  });

  test('waits as long as the holder sends heartbeats, and reports it when they stop', async () => {
    const { clock, state, openReader, openWriter } = rig();
    openReader();
    const { writer } = openWriter();
    await clock.advance(60_000);
    expect(state.lost).toBe(0);
    writer.close();
    await clock.advance(15_000);
    expect(state.lost).toBe(1);
  });

  test('stops the holder when the reader leaves', async () => {
    const { clock, state, openReader, openWriter } = rig();
    const leave = openReader();
    const { writer, send } = openWriter();
    leave();
    await clock.advance(2_000);
    send('one');
    await clock.advance(2_000);
    expect([state.cancelled, writer.isClosed, state.received]).toEqual([1, true, []]);
  });
});
