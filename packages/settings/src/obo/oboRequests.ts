import type { Obo } from '@behalf/contracts';
import type { ServerSettings } from '../compile/serverSettings.ts';
import { listPlaceholders, type Template } from '../template/template.ts';

/** A token that a server is to get for its callers. */
export interface OboRequest {
  readonly parameters: Obo;
  /** Where the definition says so. */
  readonly path: readonly string[];
  /** Where it says for which scopes. */
  readonly scopesPath: readonly string[];
  /** As people call it. */
  readonly label: string;
}

export type RemoteSettings = Exclude<ServerSettings, { type: 'stdio' }>;

/** By `obo`, and by the placeholder for Graph: whatever a token is asked for with, it is one of the user's. */
export function listOboRequests(server: RemoteSettings, graphScopes: string): OboRequest[] {
  const obo = 'obo' in server ? server.obo : undefined;
  const graphPath = findGraphPath(server);
  return [
    ...(obo ? [{ parameters: obo, path: ['obo'], scopesPath: ['obo', 'scopes'], label: 'obo' }] : []),
    ...(graphPath
      ? [
          {
            parameters: { scopes: graphScopes },
            path: graphPath,
            scopesPath: graphPath,
            label: GRAPH_PLACEHOLDER,
          },
        ]
      : []),
  ];
}

const GRAPH_PLACEHOLDER = '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}';

/** Elsewhere it is refused when the definition is read. */
function findGraphPath({ headers, apiKey }: RemoteSettings): string[] | undefined {
  const header = Object.entries(headers).find(([, template]) => containsGraphToken(template));
  if (header) return ['headers', header[0]];
  return apiKey?.key && containsGraphToken(apiKey.key) ? ['apiKey', 'key'] : undefined;
}

function containsGraphToken(template: Template): boolean {
  return listPlaceholders(template).some(({ kind }) => kind === 'graph');
}
