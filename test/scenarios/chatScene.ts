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
import { createPeople, type Person } from './people.ts';

type DataOf<N extends ChatEventName> = z.infer<(typeof chatEvents)[N]>;

/** An answer as its reader hears it. */
export interface Heard {
  readonly status: number;
  readonly headers: Headers;
  /** What came so far; each one was held against the contract. */
  readonly events: readonly ChatEvent[];
  /** The body of an answer that is no stream. */
  readonly problem: { code?: string; detail?: string } | undefined;
  /** From `Content-Location`. */
  readonly conversationId: string;
  /** The first event of this name; waits for it. */
  next<N extends ChatEventName>(name: N, nth?: number): Promise<DataOf<N>>;
  all<N extends ChatEventName>(name: N): DataOf<N>[];
  /** Waits for the end. */
  done(): Promise<DataOf<'done'>>;
  leave(): void;
}

export async function ask(person: Person, body: object, init: RequestInit = {}): Promise<Heard> {
  const leaving = new AbortController();
  const response = await person.post('/api/chat', body, { signal: leaving.signal, ...init });
  const events: ChatEvent[] = [];
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const problem = isStream ? undefined : ((await response.json()) as Heard['problem']);
  if (isStream) void read(response, events).catch(() => undefined);
  const all = <N extends ChatEventName>(name: N) =>
    events.filter(({ event }) => event === name).map(({ data }) => data as DataOf<N>);
  const next = <N extends ChatEventName>(name: N, nth = 0) =>
    eventually(
      `event ${name} ${nth}; heard ${events.map(({ event }) => event).join(' ')}`,
      () => all(name)[nth],
    );
  return {
    status: response.status,
    headers: response.headers,
    events,
    problem,
    conversationId: (response.headers.get('content-location') ?? '').replace('/api/chat/', ''),
    next,
    all,
    done: () => next('done'),
    leave: () => leaving.abort(),
  };
}

async function read(response: Response, events: ChatEvent[]): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const frame = text.slice(0, end);
      text = text.slice(end + 2);
      if (frame.startsWith(':')) continue;
      const [, name = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      const event = name as ChatEventName;
      events.push({ event, data: chatEvents[event].parse(JSON.parse(data)) } as ChatEvent);
    }
  }
}

export function callsIn(message: ChatMessage): ChatCall[] {
  if (message.role !== 'assistant') return [];
  return message.parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
}

export function textIn(message: ChatMessage): string {
  if (message.role !== 'assistant') return message.text;
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** Says what the last tool said; before that it calls what it is told to. */
export function callThenReport(...calls: { name: string; args?: unknown }[]): ModelScript {
  return function* ({ messages }) {
    const last = messages.at(-1);
    if (last?.role === 'tool') yield `It said: ${last.content}`;
    else yield { calls };
  };
}

export function textResult(text: string) {
  return { content: [{ type: 'text', text }] };
}

export interface ChatScene {
  readonly model: ScriptedModel;
  /** The server `docs`. */
  readonly docs: ScriptedHttpServer;
  readonly gateway: InProcessGateway;
  readonly people: Readonly<Record<'ada' | 'bob', Person>>;
  /** What the model says and what the tools do, from now on. */
  play(script: ModelScript, tools?: Readonly<Partial<Record<ToolName, Handler>>>): void;
}

/** The tools of `docs`. One list for all tests: a list that has just been asked for is not asked for again. */
const toolNames = ['greet', 'slow', 'number', 'risky', 'risky_mail'] as const;
type ToolName = (typeof toolNames)[number];
type Handler = NonNullable<ScriptedTool['handler']>;

export interface ChatSceneOptions {
  readonly clock?: Clock;
  /** More YAML, given the URLs. */
  readonly yaml?: (urls: { model: string; docs: string }) => string;
}

/** A model, a server and a gateway before them, for all tests of a file. */
export function createChatScene({ clock, yaml = chatYaml }: ChatSceneOptions = {}): ChatScene {
  const scene = {} as { -readonly [K in keyof ChatScene]: ChatScene[K] };
  beforeAll(async () => {
    scene.model = await startScriptedModel({ script: () => ['Hello'] });
    scene.docs = await scriptedHttpServer({ era: 'modern', tools: toolNames.map(tool) });
    const text = yaml({ model: scene.model.url, docs: scene.docs.url });
    scene.gateway = await startInProcess({}, text, clock, null);
    const [ada, bob] = await createPeople(scene.gateway, ['Ada', 'Bob']);
    scene.people = { ada: ada!, bob: bob! };
  }, 60_000);
  afterAll(async () => {
    await scene.gateway?.close();
    await scene.docs?.close();
    await scene.model?.close();
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
  scene.play = (script, tools = {}) => {
    scene.model.setScript(script);
    handlers = tools;
  };
  return scene;
}

/** One model, one server whose tools named `risky` ask first, and one that everybody must sign in at. */
export function chatYaml({ model, docs }: { model: string; docs: string }): string {
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
