import type { ToolSearch } from '../catalog/search/toolSearch.ts';
import { principalKey } from '../principal/principal.ts';
import type { Inbound } from './call.ts';
import type { Endpoint, EndpointParts, MissingServer } from './endpoint.ts';
import { endpointTools, type EndpointTool } from './listEndpoint.ts';

export interface ToolSearchParts {
  readonly servers: EndpointParts;
  readonly search: ToolSearch;
}

export interface Wanted {
  readonly query: string;
  readonly limit: number;
  /** Only of this one. One that is not there, or not for this caller, has no tools. */
  readonly server?: string | undefined;
}

export interface Found {
  readonly tools: readonly EndpointTool[];
  /** Among how many. */
  readonly searched: number;
  readonly missing: readonly MissingServer[];
}

/** The tools that fit best, among those that a list would show this caller and no others. */
export async function searchEndpointTools(
  { servers, search }: ToolSearchParts,
  inbound: Inbound,
  endpoint: Endpoint,
  { query, limit, server }: Wanted,
): Promise<Found> {
  const { tools, missing } = await endpointTools(servers, inbound, endpoint, { only: server });
  const by = { caller: principalKey(inbound.principal), signal: inbound.signal };
  return { tools: await search.find(tools, query, limit, by), searched: tools.length, missing };
}
