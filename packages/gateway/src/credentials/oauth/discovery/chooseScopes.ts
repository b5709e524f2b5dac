import { scopeList } from '@behalf/contracts';

const OFFLINE_ACCESS = 'offline_access';

export interface ScopeSources {
  /** Of the definition. */
  readonly configured: string | undefined;
  /** Of the challenge. */
  readonly challenged: string | undefined;
  /** What the server publishes. */
  readonly published: readonly string[] | null;
  /** What the authorization server publishes. */
  readonly supported: readonly string[] | null;
  /** What a sign-in has to reach besides: all that was granted before, and what was missing. */
  readonly additional?: string | undefined;
}

/** What is asked for, sorted; empty: the authorization server decides. */
export function chooseScopes(sources: ScopeSources): string {
  const { configured, challenged, published, supported, additional = '' } = sources;
  const base = scopeList(configured ?? challenged ?? published?.join(' ') ?? '');
  const all = new Set([...base, ...scopeList(additional)]);
  // Alone it would take the place of what the authorization server would choose.
  if (all.size > 0 && configured === undefined && supported?.includes(OFFLINE_ACCESS))
    all.add(OFFLINE_ACCESS);
  return [...all].sort().join(' ');
}

export function includesOfflineAccess(scopes: string): boolean {
  return scopeList(scopes).includes(OFFLINE_ACCESS);
}
