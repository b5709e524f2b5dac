import type { Obo } from '@behalf/contracts';
import type { ServerSettings } from '../compile/serverSettings.ts';
import { placeholdersIn, type Template } from '../template/template.ts';

/** A token that a server is to get for its callers. */
export interface Ask {
  readonly wanted: Obo;
  /** Where the definition says so. */
  readonly path: readonly string[];
  /** Where it says for which scopes. */
  readonly scopesPath: readonly string[];
  /** As people call it. */
  readonly word: string;
}

export type RemoteSettings = Exclude<ServerSettings, { type: 'stdio' }>;

/** By `obo`, and by the placeholder for Graph: whatever a token is asked for with, it is one of the user's. */
export function asksOf(server: RemoteSettings, graphScopes: string): Ask[] {
  const obo = 'obo' in server ? server.obo : undefined;
  const place = graphPlace(server);
  return [
    ...(obo ? [{ wanted: obo, path: ['obo'], scopesPath: ['obo', 'scopes'], word: 'obo' }] : []),
    ...(place ? [{ wanted: { scopes: graphScopes }, path: place, scopesPath: place, word: GRAPH }] : []),
  ];
}

const GRAPH = '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}';

/** Elsewhere it is refused when the definition is read. */
function graphPlace({ headers, apiKey }: RemoteSettings): string[] | undefined {
  const header = Object.entries(headers).find(([, template]) => holdsGraph(template));
  if (header) return ['headers', header[0]];
  return apiKey?.key && holdsGraph(apiKey.key) ? ['apiKey', 'key'] : undefined;
}

function holdsGraph(template: Template): boolean {
  return placeholdersIn(template).some(({ kind }) => kind === 'graph');
}
