import { describe, expect, test } from '@jest/globals';
import { createConnectControllers } from './connectController.ts';
import { createFlowSignals, clearStoredFlows, type SignalParts } from './flowSignals.ts';
import { resolveOwnUrl, signInLocation } from './signInUrl.ts';

const origin = 'https://behalf.example';

class Channel extends EventTarget {
  isClosed = false;
  close() {
    this.isClosed = true;
  }
}

function rig(overrides: Partial<SignalParts> = {}, stored: Record<string, string> = {}) {
  const page = new EventTarget();
  const channel = new Channel();
  const names: string[] = [];
  const store = new Map(Object.entries(stored));
  const listen = createFlowSignals({
    ...{ origin, page },
    openChannel(name) {
      names.push(name);
      return channel;
    },
    storage: () => ({
      getItem: (key) => store.get(key) ?? null,
      removeItem: (key) => void store.delete(key),
    }),
    ...overrides,
  });
  let notificationCount = 0;
  const stop = listen('f1', () => (notificationCount += 1));
  const send = (target: EventTarget, type: string, fields: object) =>
    target.dispatchEvent(Object.assign(new Event(type), fields));
  return { page, channel, names, store, stop, send, notificationCount: () => notificationCount };
}

const word = (flowId: string) => ({ type: 'behalf.oauth', flowId, ok: true });

describe('the end of a sign-in', () => {
  test('is heard on each of three ways, and once', () => {
    const byChannel = rig();
    byChannel.send(byChannel.channel, 'message', { data: word('f1') });
    byChannel.send(byChannel.page, 'message', { data: word('f1'), origin });
    expect([byChannel.notificationCount(), byChannel.names]).toEqual([1, ['behalf-oauth']]);
    const byMessage = rig();
    byMessage.send(byMessage.page, 'message', { data: word('f1'), origin });
    expect(byMessage.notificationCount()).toBe(1);
    const byStorage = rig();
    byStorage.send(byStorage.page, 'storage', { key: 'behalf-oauth:f1', newValue: '{}' });
    expect(byStorage.notificationCount()).toBe(1);
    expect(rig({}, { 'behalf-oauth:f1': '{}' }).notificationCount()).toBe(1);
  });

  test('only words of this origin about this sign-in count', () => {
    const { page, channel, send, notificationCount } = rig({}, { 'behalf-oauth:f2': '{}' });
    send(page, 'message', { data: word('f1'), origin: 'https://evil.example' });
    send(page, 'message', { data: word('f2'), origin });
    send(channel, 'message', { data: word('f2') });
    for (const data of [null, 'f1', { flowId: 'f1' }, { type: 'behalf.oauth' }]) {
      send(channel, 'message', { data });
      send(page, 'message', { data, origin });
    }
    send(page, 'storage', { key: 'behalf-oauth:f2', newValue: '{}' });
    send(page, 'storage', { key: 'behalf-oauth:f1', newValue: null });
    expect(notificationCount()).toBe(0);
  });

  test('leaves nothing behind', () => {
    const { page, channel, send, notificationCount, stop, store } = rig(
      {},
      { 'behalf-oauth:f1': '{}', other: 'x' },
    );
    stop();
    expect([[...store.keys()], channel.isClosed]).toEqual([['other'], true]);
    send(channel, 'message', { data: word('f1') });
    send(page, 'message', { data: word('f1'), origin });
    send(page, 'storage', { key: 'behalf-oauth:f1', newValue: '{}' });
    expect(notificationCount()).toBe(1);
  });

  test('nor does one that was finished where nobody listened', () => {
    const stored = { 'behalf-oauth:f1': '{}', 'behalf-oauth:f2': '{}', 'behalf.theme': 'dark' };
    const removed: string[] = [];
    Object.defineProperty(stored, 'removeItem', { value: (key: string) => removed.push(key) });
    clearStoredFlows(() => stored as unknown as Storage);
    expect(removed).toEqual(['behalf-oauth:f1', 'behalf-oauth:f2']);
    clearStoredFlows(() => {
      throw new Error('not here');
    });
  });

  test('a way that is closed does not close the others', () => {
    const no = () => {
      throw new Error('not here');
    };
    const { page, send, notificationCount, stop } = rig({ storage: no, openChannel: no });
    send(page, 'message', { data: word('f1'), origin });
    expect(notificationCount()).toBe(1);
    stop();
  });
});

describe('the sign-ins of a page', () => {
  test('there is one for each server, and all windows hear of its end', () => {
    const received: string[] = [];
    const notifications: string[] = [];
    let fromOtherTab: (server: string) => void = () => undefined;
    const ends = new Map<string, () => void>();
    const connects = createConnectControllers({
      create(server, onConnected) {
        ends.set(server, onConnected);
        return { server } as never;
      },
      broadcast: (server) => notifications.push(server),
      onBroadcast: (listener) => (fromOtherTab = listener),
    });
    const forget = connects.onConnected((server) => received.push(server));
    expect(connects.get('mail')).toBe(connects.get('mail'));
    expect(connects.get('mail')).not.toBe(connects.get('crm'));
    ends.get('mail')?.();
    expect([received, notifications]).toEqual([['mail'], ['mail']]);
    fromOtherTab('crm');
    expect([received, notifications]).toEqual([['mail', 'crm'], ['mail']]);
    forget();
    fromOtherTab('crm');
    expect(received).toHaveLength(2);
  });

  test('a sign-in is at the server, here, or cannot be begun', () => {
    const place = (url: string | null) => signInLocation(url, origin);
    expect(place('/servers/mail')).toBe('server');
    expect(place(`${origin}/api/mcp/mail/oauth/initiate?flowId=f`)).toBe('server');
    expect(place('/oauth/openid')).toBe('here');
    for (const url of [null, '', 'https://evil.example/servers/x', '//evil.example/servers/x']) {
      expect([url, place(url)]).toEqual([url, undefined]);
    }
  });

  test('another name of this machine is no other place, and only there', () => {
    const address = (url: string, from: string) => resolveOwnUrl(url, from)?.href;
    const local = 'http://localhost:3080/api/mcp/m/oauth/initiate';
    expect(address(local, 'http://127.0.0.1:3080')).toBe(local);
    expect(address(local, origin)).toBeUndefined();
    expect(address('http://evil.example/', 'http://127.0.0.1:3080')).toBeUndefined();
    expect(address('http://localhost.evil.example/', 'http://127.0.0.1:3080')).toBeUndefined();
    expect(address('file://localhost/etc/passwd', 'http://127.0.0.1:3080')).toBeUndefined();
  });
});
