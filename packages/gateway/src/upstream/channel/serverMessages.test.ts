import { describe, expect, test } from '@jest/globals';
import { startCall, openFakeChannel } from '../../../test/fakeChannel.ts';
import type { JsonObject } from '../upstream.ts';

describe('what a server sends by itself', () => {
  const two = async (owner: string | undefined) => {
    const rig = await openFakeChannel({ owner });
    const received: string[] = [];
    const hearing = (who: string) => ({
      onLog: () => received.push(`${who} log`),
      onProgress: () => received.push(`${who} progress`),
    });
    return { ...rig, received, a: startCall(rig, hearing('a')), hearing };
  };
  const logMessage = (overrides: JsonObject = {}) => ({
    method: 'notifications/message',
    params: { level: 'error', logger: 'l'.repeat(500), data: 'planted-secret', ...overrides },
  });

  test('progress reaches the request it names and no other', async () => {
    const rig = await two(undefined);
    const b = startCall(rig, rig.hearing('b'));
    const say = (progressToken: unknown) =>
      rig.channel.receive({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    say(rig.a.id);
    expect(rig.received).toEqual(['a progress']);
    for (const token of ['a', undefined, String(b.id), b.id + 50]) say(token);
    expect(rig.received).toEqual(['a progress']);
  });

  test('a log message on a shared channel reaches the operator and no user', async () => {
    const rig = await two(undefined);
    rig.channel.receive(logMessage());
    rig.channel.receive(logMessage({ level: { hostile: 1 }, logger: 7 }));
    expect(rig.received).toEqual([]);
    expect(rig.logged).toEqual([
      { event: 'upstream_server_log', fields: { server: 'fake', level: 'error', logger: 'l'.repeat(64) } },
      { event: 'upstream_server_log', fields: { server: 'fake', level: 'unknown' } },
    ]);
  });

  test('on a channel of one user it reaches the only request under way, and none of two', async () => {
    const rig = await two('user-1');
    rig.channel.receive(logMessage());
    expect(rig.received).toEqual(['a log']);
    expect(rig.logged).toEqual([]);
    const b = startCall(rig, rig.hearing('b'));
    rig.channel.receive(logMessage());
    expect(rig.received).toEqual(['a log']);
    expect(rig.logged).toHaveLength(1);
    rig.channel.receive({ id: rig.a.id, result: {} });
    await rig.a.outcome;
    rig.channel.receive(logMessage());
    expect(rig.received).toEqual(['a log', 'b log']);
    rig.channel.receive({ id: b.id, result: {} });
    await b.outcome;
    rig.channel.receive(logMessage());
    expect(rig.logged).toHaveLength(2);
  });

  test('the name of a logger writes no lines of its own', async () => {
    const rig = await openFakeChannel();
    rig.channel.receive(logMessage({ logger: 'db\r\n{"level":"error"}\u001b[2J\u202e\u2028x' }));
    expect(rig.logged.map(({ fields }) => fields['logger'])).toEqual(['db {"level":"error"} [2J x']);
  });

  test('a server that logs without end fills no log', async () => {
    const rig = await openFakeChannel();
    for (let n = 0; n < 10_000; n += 1) rig.channel.receive(logMessage());
    expect(rig.logged).toHaveLength(100);
    await rig.clock.advance(1_000);
    expect(rig.logged[100]).toEqual({
      event: 'upstream_server_log_dropped',
      fields: { server: 'fake', count: 9_900 },
    });
    for (let n = 0; n < 100; n += 1) rig.channel.receive(logMessage());
    expect(rig.logged).toHaveLength(121);
  });

  test('a ping is answered, an elicitation cancelled, the rest refused', async () => {
    const rig = await two('user-1');
    const answerTo = (method: string, id: string | number) => {
      rig.channel.receive({ id, method, params: { message: 'What is your password?' } });
      return rig.channel.sent.at(-1);
    };
    expect(answerTo('ping', 'p-1')).toEqual({ jsonrpc: '2.0', id: 'p-1', result: {} });
    expect(answerTo('elicitation/create', 0)).toEqual({
      jsonrpc: '2.0',
      id: 0,
      result: { action: 'cancel' },
    });
    for (const method of ['sampling/createMessage', 'roots/list', 'tools/call', 'toString'])
      expect(answerTo(method, 7)).toMatchObject({ id: 7, error: { code: -32601 } });
    expect(rig.received).toEqual([]);
  });

  test('a server that asks and does not read our answers gets no more of them', async () => {
    const { channel, clock } = await openFakeChannel();
    const before = channel.sent.length;
    channel.isHeld = true;
    for (let id = 0; id < 1_000; id += 1) channel.receive({ id, method: 'ping' });
    expect(channel.sent.length - before).toBe(64);
    await clock.advance(0);
  });

  test('a changed list reaches all listeners; a resource those who listen for it', async () => {
    const changed = { method: 'notifications/tools/list_changed', params: { x: 1 } };
    const updated = (uri: string) => ({ method: 'notifications/resources/updated', params: { uri } });
    for (const owner of [undefined, 'user-1']) {
      const { channel, upstream } = await openFakeChannel({ owner });
      const [received, others]: unknown[][] = [[], []];
      upstream.listen(
        () => {
          throw new Error('a listener of ours fails');
        },
        { resources: ['a:b'] },
      );
      const stop = upstream.listen((notice) => received!.push(notice), { resources: ['a:b'] });
      upstream.listen((notice) => others!.push(notice), {});
      for (const message of [changed, updated('a:b'), updated('a:c')]) channel.receive(message);
      channel.receive({ method: 'notifications/unheard-of', params: {} });
      expect([received, others]).toEqual([[changed, updated('a:b')], [changed]]);
      stop();
      stop();
      channel.receive(changed);
      expect([received!.length, others!.length]).toEqual([2, 2]);
      // A legacy server is told with requests of their own.
      expect(channel.sentWith('subscriptions/listen')).toEqual([]);
    }
  });

  test('what is announced is followed until the channel ends', async () => {
    const { channel, upstream } = await openFakeChannel({}, { tools: { listChanged: true }, prompts: {} });
    const reported: unknown[] = [];
    upstream.listen(() => undefined, { onSubscribedLists: (lists) => reported.push(lists) });
    expect(reported).toEqual([['tools']]);
    await channel.transport.close();
    expect(reported).toEqual([['tools'], []]);
  });

  test('the end is told once, also to who asks late', async () => {
    const { channel, upstream } = await openFakeChannel();
    const received: string[] = [];
    upstream.onClose(() => {
      throw new Error('a listener of ours fails');
    });
    upstream.onClose(() => received.push('early'));
    await upstream.close();
    await upstream.close();
    upstream.onClose(() => received.push('late'));
    expect(received).toEqual(['early', 'late']);
    expect(channel.closeCount).toBe(2);
  });
});
