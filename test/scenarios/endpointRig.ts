import type { ScriptedHttpServer, ScriptedOptions } from '@behalf/testkit';
import { createLegacyClient, sendModern, type WireMessage, type WireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';

type Json = Readonly<Record<string, unknown>>;

/** A tool that says whose it is. */
export const createTools = (label: string, names: readonly string[]) =>
  names.map((name) => ({ name, handler: () => ({ content: [{ type: 'text', text: `${label} ${name}` }] }) }));

/** Resources that say whose they are. */
export function createResources(label: string, uris: readonly string[], templates: readonly string[] = []) {
  return {
    capabilities: { tools: {}, resources: {} },
    methods: {
      'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }),
      'resources/templates/list': () => ({
        resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
      }),
      'resources/read': ({ uri }: Json) => ({
        contents: [{ uri: String(uri), text: `${label} ${String(uri)}` }],
      }),
    } satisfies ScriptedOptions['methods'],
  };
}

/** Prompts that say whose they are. */
export function createPrompts(label: string, names: readonly string[]) {
  return {
    capabilities: { tools: {}, prompts: {} },
    methods: {
      'prompts/list': () => ({ prompts: names.map((name) => ({ name })) }),
      'prompts/get': ({ name }: Json) => ({ messages: [], description: `${label} ${String(name)}` }),
    } satisfies ScriptedOptions['methods'],
  };
}

/** Who asks: the same questions in one era or the other. */
export interface EndpointClient {
  send(method: string, params?: Json): Promise<WireMessage>;
  /** The names or addresses of a list. */
  list(method: string): Promise<string[]>;
  /** What a tool says, or the code of its refusal. */
  call(name: string): Promise<unknown>;
  /** What a resource holds, or the code of its refusal. */
  read(uri: string): Promise<unknown>;
}

export function createModernClient(client: WireClient): EndpointClient {
  return createEndpointClient(async (method, params) => (await sendModern(client, method, params)).message);
}

export async function createLegacyEndpointClient(client: WireClient): Promise<EndpointClient> {
  const legacy = await createLegacyClient(client);
  return createEndpointClient(async (method, params) => (await legacy.request(method, params)).message);
}

function createEndpointClient(send: EndpointClient['send']): EndpointClient {
  return {
    send,
    async list(method) {
      const { result = {} } = await send(method, {});
      const items = Object.values(result).find(Array.isArray) as Record<string, string>[];
      return items.map(({ uri, uriTemplate, name }) => uri ?? uriTemplate ?? name ?? '');
    },
    async call(name) {
      const { result, error } = await send('tools/call', { name });
      const [block] = (result?.['content'] ?? []) as { text: string }[];
      return block?.text ?? error?.data?.['code'];
    },
    async read(uri) {
      const { result, error } = await send('resources/read', { uri });
      const [content] = (result?.['contents'] ?? []) as { text: string }[];
      return content?.text ?? error?.data?.['code'] ?? error?.code;
    },
  };
}

/** A server of a user's own; gives its name and its id. */
export async function createUserServer(
  owner: TestUser,
  { url }: Pick<ScriptedHttpServer, 'url'>,
  title: string,
): Promise<{ serverName: string; dbId: string }> {
  const response = await owner.post('/api/mcp/servers', { config: httpDefinition(url, { title }) });
  if (response.status !== 201) throw new Error(await response.text());
  return (await response.json()) as { serverName: string; dbId: string };
}

/** Shares it for use. */
export async function shareServerWith(
  owner: TestUser,
  dbId: string,
  users: readonly TestUser[],
): Promise<void> {
  const updated = users.map(({ id }) => ({ type: 'user', id, accessRoleId: 'mcpServer_viewer' }));
  const response = await owner.send('PUT', `/api/permissions/mcpServer/${dbId}`, {
    ...{ updated, removed: [], public: false },
  });
  if (response.status !== 200) throw new Error(await response.text());
}

/** Settings in which users may have servers at these addresses, and the operator's may too. */
export function createEndpointSettings(
  servers: Record<string, { url: string } & object>,
  endpoint: object | undefined,
  otherServers: readonly { url: string }[] = [],
  extraSettings: object = {},
): string {
  const hosts = [...Object.values(servers), ...otherServers].map(({ url }) => new URL(url).host);
  return JSON.stringify({
    mcpSettings: { allowedAddresses: [...new Set(hosts)], ...(endpoint && { endpoint }) },
    mcpServers: servers,
    interface: { mcpServers: { use: true, create: true, share: true } },
    ...extraSettings,
  });
}
