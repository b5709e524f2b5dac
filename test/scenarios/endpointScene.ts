import type { ScriptedHttpServer, ScriptedOptions } from '@behalf/testkit';
import { legacyClient, modernRequest, type Message, type WireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { http } from './serverYaml.ts';

type Json = Readonly<Record<string, unknown>>;

/** A tool that says whose it is. */
export const toolsOf = (mark: string, names: readonly string[]) =>
  names.map((name) => ({ name, handler: () => ({ content: [{ type: 'text', text: `${mark} ${name}` }] }) }));

/** Resources that say whose they are. */
export function resourcesOf(mark: string, uris: readonly string[], templates: readonly string[] = []) {
  return {
    capabilities: { tools: {}, resources: {} },
    methods: {
      'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
      'resources/templates/list': () => ({
        resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
      }),
      'resources/read': ({ uri }: Json) => ({
        contents: [{ uri: String(uri), text: `${mark} ${String(uri)}` }],
      }),
    } satisfies ScriptedOptions['methods'],
  };
}

/** Prompts that say whose they are. */
export function promptsOf(mark: string, names: readonly string[]) {
  return {
    capabilities: { tools: {}, prompts: {} },
    methods: {
      'prompts/list': () => ({ prompts: names.map((name) => ({ name })) }),
      'prompts/get': ({ name }: Json) => ({ messages: [], description: `${mark} ${String(name)}` }),
    } satisfies ScriptedOptions['methods'],
  };
}

/** Who asks: the same questions in one era or the other. */
export interface Asker {
  ask(method: string, params?: Json): Promise<Message>;
  /** The names or addresses of a list. */
  list(method: string): Promise<string[]>;
  /** What a tool says, or the code of its refusal. */
  call(name: string): Promise<unknown>;
  /** What a resource holds, or the code of its refusal. */
  read(uri: string): Promise<unknown>;
}

export function modernAsker(client: WireClient): Asker {
  return askerOf(async (method, params) => (await modernRequest(client, method, params)).answer);
}

export async function legacyAsker(client: WireClient): Promise<Asker> {
  const legacy = await legacyClient(client);
  return askerOf(async (method, params) => (await legacy.request(method, params)).answer);
}

function askerOf(ask: Asker['ask']): Asker {
  return {
    ask,
    async list(method) {
      const { result = {} } = await ask(method, {});
      const items = Object.values(result).find(Array.isArray) as Record<string, string>[];
      return items.map(({ uri, uriTemplate, name }) => uri ?? uriTemplate ?? name ?? '');
    },
    async call(name) {
      const { result, error } = await ask('tools/call', { name });
      const [block] = (result?.['content'] ?? []) as { text: string }[];
      return block?.text ?? error?.data?.['code'];
    },
    async read(uri) {
      const { result, error } = await ask('resources/read', { uri });
      const [content] = (result?.['contents'] ?? []) as { text: string }[];
      return content?.text ?? error?.data?.['code'] ?? error?.code;
    },
  };
}

/** A server of a user's own; gives its name and its id. */
export async function ownServer(
  by: Person,
  { url }: Pick<ScriptedHttpServer, 'url'>,
  title: string,
): Promise<{ serverName: string; dbId: string }> {
  const made = await by.post('/api/mcp/servers', { config: http(url, { title }) });
  if (made.status !== 201) throw new Error(await made.text());
  return (await made.json()) as { serverName: string; dbId: string };
}

/** Shares it for use. */
export async function shareServer(owner: Person, dbId: string, people: readonly Person[]): Promise<void> {
  const updated = people.map(({ id }) => ({ type: 'user', id, accessRoleId: 'mcpServer_viewer' }));
  const shared = await owner.send('PUT', `/api/permissions/mcpServer/${dbId}`, {
    ...{ updated, removed: [], public: false },
  });
  if (shared.status !== 200) throw new Error(await shared.text());
}

/** Settings in which users may have servers at these addresses, and the operator's may too. */
export function settingsWith(
  servers: Record<string, { url: string } & object>,
  endpoint: object | undefined,
  others: readonly { url: string }[] = [],
  more: object = {},
): string {
  const hosts = [...Object.values(servers), ...others].map(({ url }) => new URL(url).host);
  return JSON.stringify({
    mcpSettings: { allowedAddresses: [...new Set(hosts)], ...(endpoint && { endpoint }) },
    mcpServers: servers,
    interface: { mcpServers: { use: true, create: true, share: true } },
    ...more,
  });
}
