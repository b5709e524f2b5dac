import type { ToolSearch } from '../catalog/search/toolSearch.ts';
import { principalKey } from '../principal/principal.ts';
import type { Inbound } from './inbound.ts';
import type { EndpointSelector, EndpointParts, MissingServer } from './endpoint.ts';
import { loadEndpointTools, type EndpointTool } from './listEndpoint.ts';

export interface ToolSearchParts {
  readonly servers: EndpointParts;
  readonly search: ToolSearch;
}

export interface ToolSearchRequest {
  readonly query: string;
  readonly limit: number;
  /** Only of this one. One that is not there, or not for this caller, has no tools. */
  readonly server?: string | undefined;
}

export interface ToolSearchResult {
  readonly tools: readonly EndpointTool[];
  /** Among how many. */
  readonly searchedCount: number;
  readonly missing: readonly MissingServer[];
}

/** The tools that fit best, among those that a list would show this caller and no others. */
export async function searchEndpointTools(
  { servers, search }: ToolSearchParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  { query, limit, server }: ToolSearchRequest,
): Promise<ToolSearchResult> {
  const { tools, missing } = await loadEndpointTools(servers, inbound, endpoint, { serverName: server });
  const context = { caller: principalKey(inbound.principal), signal: inbound.signal };
  return { tools: await search.find(tools, query, limit, context), searchedCount: tools.length, missing };
}
