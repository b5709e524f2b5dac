import type { DiscoverToolsView } from '@behalf/contracts';
import { request } from './request.ts';

/** What a server is asked with that nobody saved. A key goes along once, and is kept nowhere. */
export type LookAuth =
  | { readonly type: 'none' }
  | { readonly type: 'draft'; readonly draftId: string }
  | {
      readonly type: 'key';
      readonly authorization_type: 'bearer' | 'basic' | 'custom';
      readonly custom_header?: string;
      readonly key: string;
    };

export interface LookedAt {
  readonly url: string;
  readonly type: 'streamable-http' | 'sse' | 'websocket';
}

/** The tools of a server before it is saved, or what has to be done to see them. Nothing is stored. */
export function discoverTools(
  { url, type }: LookedAt,
  auth: LookAuth,
  returnTo: string,
): Promise<DiscoverToolsView> {
  return request('/api/mcp/discover-tools', { method: 'POST', body: { url, type, auth, returnTo } });
}
