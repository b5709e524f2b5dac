import { createFakeClock } from '@behalf/testkit';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { openChannelUpstream, type ChannelOptions } from '../src/upstream/channel/openChannelUpstream.ts';
import type { JsonObject, UpstreamRequestOptions, Upstream } from '../src/upstream/upstream.ts';
import { callChannelTool } from './channelRig.ts';

/** A channel whose other end is the test. */
export interface FakeChannel {
  readonly transport: Transport;
  /** What was sent, in order. */
  readonly sent: JsonObject[];
  /** Of those, the ones of this method. */
  sentWith(method: string): JsonObject[];
  receive(message: JsonObject): void;
  /** Answers every `initialize` from now on. */
  answerInitialize(result?: JsonObject): void;
  /** While set, sends wait. */
  isHeld: boolean;
  startCount: number;
  closeCount: number;
}

export function createFakeChannel(): FakeChannel {
  const sent: JsonObject[] = [];
  let initializeResult: JsonObject | undefined;
  const transport: Transport = {
    start: async () => void (fakeChannel.startCount += 1),
    async send(message) {
      const json = message as unknown as JsonObject;
      sent.push(json);
      if (json['method'] === 'initialize' && initializeResult)
        fakeChannel.receive({ id: json['id'], result: initializeResult });
      if (fakeChannel.isHeld) await new Promise(() => undefined);
    },
    async close() {
      fakeChannel.closeCount += 1;
      transport.onclose?.();
    },
  };
  const fakeChannel: FakeChannel = {
    transport,
    sent,
    sentWith: (method) => sent.filter((message) => message['method'] === method),
    receive: (message) => transport.onmessage?.({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage),
    answerInitialize(result = {}) {
      const serverInfo = { name: 'fake', version: '1' };
      initializeResult = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo, ...result };
    },
    isHeld: false,
    startCount: 0,
    closeCount: 0,
  };
  return fakeChannel;
}

/** A conversation over a channel whose other end is the test. */
export async function openFakeChannel(
  overrides: Partial<ChannelOptions> = {},
  capabilities: JsonObject = {},
) {
  const clock = createFakeClock();
  const channel = createFakeChannel();
  const logged: { readonly event: string; readonly fields: JsonObject }[] = [];
  channel.answerInitialize({ capabilities });
  const upstream = await openChannelUpstream(
    channel.transport,
    {
      server: 'fake',
      owner: undefined,
      era: 'legacy',
      initTimeoutMs: 1_000,
      signal: new AbortController().signal,
      ...overrides,
    },
    { clock, version: '1.2.3', log: (event, fields) => logged.push({ event, fields }) },
  );
  return { clock, channel, logged, upstream };
}

/** Asks without waiting, and gives the message that went out. */
export function startCall(
  { channel, upstream }: { readonly channel: FakeChannel; readonly upstream: Upstream },
  overrides: Partial<UpstreamRequestOptions> = {},
) {
  const pendingCall = callChannelTool(upstream, 'tool', { a: 1 }, overrides);
  const outcome = pendingCall.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  const message = channel.sent.at(-1) as { id: number; params: { _meta: JsonObject } };
  return { outcome, message, id: message.id };
}
