import type { DiscoverToolsView } from '@behalf/contracts';
import { requestJson } from './request.ts';

/** What a server is asked with that nobody saved. A key goes along once, and is kept nowhere. */
export type DiscoveryAuth =
  | { readonly type: 'none' }
  | { readonly type: 'draft'; readonly draftId: string }
  | {
      readonly type: 'key';
      readonly authorization_type: 'bearer' | 'basic' | 'custom';
      readonly custom_header?: string;
      readonly key: string;
    };

export interface DiscoveryEndpoint {
  readonly url: string;
  readonly type: 'streamable-http' | 'sse' | 'websocket';
}

/** The tools of a server before it is saved, or what has to be done to see them. Nothing is stored. */
export function discoverTools(
  { url, type }: DiscoveryEndpoint,
  auth: DiscoveryAuth,
  returnTo: string,
): Promise<DiscoverToolsView> {
  return requestJson('/api/mcp/discover-tools', { method: 'POST', body: { url, type, auth, returnTo } });
}
