import type { EndpointServer, McpEndpoint } from '@behalf/contracts';

/** A tool or a prompt of a server of the configuration, by what the server calls it. */
export interface UpstreamName {
  readonly server: string;
  readonly name: string;
}

/** Names that the operator chose by hand, both ways. */
export interface Aliases {
  aliasOf(server: string, name: string): string | undefined;
  /** What it stands for, whether or not that is there: nothing else ever has this name. */
  resolveAlias(alias: string): UpstreamName | undefined;
}

export type NamedKind = 'tools' | 'prompts';

/** What things are called where those of all servers stand side by side, as the operator chose. */
export interface Naming extends Readonly<Record<NamedKind, Aliases>> {
  /** The servers whose names stand alone, the first before all. Empty: none do. */
  readonly priority: readonly string[];
  /** What the names of a server begin with, where that was chosen. */
  keyOf(server: string): string | undefined;
  /** Whether a key was chosen for some server: then it is no other's. */
  isChosen(key: string): boolean;
}

export function createNaming(endpoint: Readonly<McpEndpoint> | undefined): Naming {
  const servers = Object.entries(endpoint?.servers ?? {});
  const keys = new Map(servers.flatMap(([name, { key }]) => (key === undefined ? [] : [[name, key]])));
  const reservedKeys = new Set(keys.values());
  return {
    priority: endpoint?.names === 'priority' ? endpoint.priority : [],
    keyOf: (server) => keys.get(server),
    isChosen: (key) => reservedKeys.has(key),
    tools: aliasesOf(servers, 'tools'),
    prompts: aliasesOf(servers, 'prompts'),
  };
}

function aliasesOf(
  servers: readonly (readonly [name: string, chosen: EndpointServer])[],
  kind: NamedKind,
): Aliases {
  const byServer = new Map(
    servers.map(([server, { [kind]: names }]) => [server, new Map(Object.entries(names))]),
  );
  const namesByAlias = new Map<string, UpstreamName>();
  for (const [server, names] of byServer) {
    for (const [name, alias] of names) namesByAlias.set(alias, { server, name });
  }
  return {
    aliasOf: (server, name) => byServer.get(server)?.get(name),
    resolveAlias: (alias) => namesByAlias.get(alias),
  };
}
