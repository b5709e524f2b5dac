import {
  chatEvents,
  type ChatCall,
  type ChatEvent,
  type ChatEventName,
  type ChatMessage,
} from '@behalf/contracts';
import { startScriptedModel, type ModelScript, type ScriptedModel } from '@behalf/devidp/sample';
import type { Clock } from '@behalf/kernel';
import { eventually, scriptedHttpServer, type ScriptedHttpServer, type ScriptedTool } from '@behalf/testkit';
import { afterAll, beforeAll } from '@jest/globals';
import type { z } from 'zod';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createUsers, type TestUser } from './users.ts';

type DataOf<N extends ChatEventName> = z.infer<(typeof chatEvents)[N]>;

/** An answer as its reader hears it. */
export interface ChatStream {
  readonly status: number;
  readonly headers: Headers;
  /** What came so far; each one was held against the contract. */
  readonly events: readonly ChatEvent[];
  /** The body of an answer that is no stream. */
  readonly problem: { code?: string; detail?: string } | undefined;
  /** From `Content-Location`. */
  readonly conversationId: string;
  /** The first event of this name; waits for it. */
  waitForEvent<N extends ChatEventName>(name: N, index?: number): Promise<DataOf<N>>;
  eventsNamed<N extends ChatEventName>(name: N): DataOf<N>[];
  /** Waits for the end. */
  waitUntilDone(): Promise<DataOf<'done'>>;
  disconnect(): void;
}

export async function sendChat(user: TestUser, body: object, init: RequestInit = {}): Promise<ChatStream> {
  const disconnect = new AbortController();
  const response = await user.post('/api/chat', body, { signal: disconnect.signal, ...init });
  const events: ChatEvent[] = [];
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const problem = isStream ? undefined : ((await response.json()) as ChatStream['problem']);
  if (isStream) void readEvents(response, events).catch(() => undefined);
  const eventsNamed = <N extends ChatEventName>(name: N) =>
    events.filter(({ event }) => event === name).map(({ data }) => data as DataOf<N>);
  const waitForEvent = <N extends ChatEventName>(name: N, index = 0) =>
    eventually(
      `event ${name} ${index}; heard ${events.map(({ event }) => event).join(' ')}`,
      () => eventsNamed(name)[index],
    );
  return {
    status: response.status,
    headers: response.headers,
    events,
    problem,
    conversationId: (response.headers.get('content-location') ?? '').replace('/api/chat/', ''),
    waitForEvent,
    eventsNamed,
    waitUntilDone: () => waitForEvent('done'),
    disconnect: () => disconnect.abort(),
  };
}

async function readEvents(response: Response, events: ChatEvent[]): Promise<void> {
  let settingsText = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    settingsText += decoder.decode(chunk, { stream: true });
    for (let end = settingsText.indexOf('\n\n'); end !== -1; end = settingsText.indexOf('\n\n')) {
      const frame = settingsText.slice(0, end);
      settingsText = settingsText.slice(end + 2);
      if (frame.startsWith(':')) continue;
      const [, name = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      const event = name as ChatEventName;
      events.push({ event, data: chatEvents[event].parse(JSON.parse(data)) } as ChatEvent);
    }
  }
}

export function listCalls(message: ChatMessage): ChatCall[] {
  if (message.role !== 'assistant') return [];
  return message.parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
}

export function extractText(message: ChatMessage): string {
  if (message.role !== 'assistant') return message.text;
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** Says what the last tool said; before that it calls what it is told to. */
export function callThenReport(...calls: { name: string; args?: unknown }[]): ModelScript {
  return function* ({ messages }) {
    const lastMessage = messages.at(-1);
    if (lastMessage?.role === 'tool') yield `It said: ${lastMessage.content}`;
    else yield { calls };
  };
}

export function textResult(settingsText: string) {
  return { content: [{ type: 'text', text: settingsText }] };
}

export interface ChatRig {
  readonly model: ScriptedModel;
  /** The server `docs`. */
  readonly docs: ScriptedHttpServer;
  readonly gateway: InProcessGateway;
  readonly users: Readonly<Record<'ada' | 'bob', TestUser>>;
  /** What the model says and what the tools do, from now on. */
  setScript(script: ModelScript, tools?: Readonly<Partial<Record<ToolName, Handler>>>): void;
}

/** The tools of `docs`. One list for all tests: a list that has just been asked for is not asked for again. */
const toolNames = ['greet', 'slow', 'number', 'risky', 'risky_mail'] as const;
type ToolName = (typeof toolNames)[number];
type Handler = NonNullable<ScriptedTool['handler']>;

export interface ChatRigOptions {
  readonly clock?: Clock;
  /** More YAML, given the URLs. */
  readonly yaml?: (urls: { model: string; docs: string }) => string;
}

/** A model, a server and a gateway before them, for all tests of a file. */
export function createChatRig({ clock, yaml = createChatYaml }: ChatRigOptions = {}): ChatRig {
  const rig = {} as { -readonly [K in keyof ChatRig]: ChatRig[K] };
  beforeAll(async () => {
    rig.model = await startScriptedModel({ script: () => ['Hello'] });
    rig.docs = await scriptedHttpServer({ era: 'modern', tools: toolNames.map(tool) });
    const settingsText = yaml({ model: rig.model.url, docs: rig.docs.url });
    rig.gateway = await startInProcess({}, settingsText, clock, null);
    const [ada, bob] = await createUsers(rig.gateway, ['Ada', 'Bob']);
    rig.users = { ada: ada!, bob: bob! };
  }, 60_000);
  afterAll(async () => {
    await rig.gateway?.close();
    await rig.docs?.close();
    await rig.model?.close();
  });
  let handlers: Readonly<Partial<Record<ToolName, Handler>>> = {};
  const tool = (name: ToolName): ScriptedTool => ({
    name,
    description: `Does ${name}.`,
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' } },
      ...(name === 'number' && { required: ['a'] }),
    },
    handler: (args, call) => handlers[name]?.(args, call) ?? textResult(`${name} ${JSON.stringify(args)}`),
  });
  rig.setScript = (script, tools = {}) => {
    rig.model.setScript(script);
    handlers = tools;
  };
  return rig;
}

/** One model, one server whose tools named `risky` ask first, and one that everybody must sign in at. */
export function createChatYaml({ model, docs }: { model: string; docs: string }): string {
  return `
endpoints:
  custom:
    - { name: Test, baseURL: '${model}', models: { default: [one, { name: two }] } }
  agents:
    toolApproval: { ask: ['mcp:docs:risky*'] }
mcpSettings: { operatorAddresses: ['${new URL(docs).host}'] }
mcpServers:
  docs: { type: streamable-http, url: '${docs}', title: The documents }
`;
}
