import { scopeList } from '@behalf/contracts';

const OFFLINE = 'offline_access';

export interface ScopeSources {
  /** Of the definition. */
  readonly configured: string | undefined;
  /** Of the challenge. */
  readonly challenged: string | undefined;
  /** What the server publishes. */
  readonly published: readonly string[] | null;
  /** What the authorization server publishes. */
  readonly offered: readonly string[] | null;
  /** What a sign-in has to reach besides: all that was granted before, and what was missing. */
  readonly widened?: string | undefined;
}

/** What is asked for, sorted; empty: the authorization server decides. */
export function chooseScopes(sources: ScopeSources): string {
  const { configured, challenged, published, offered, widened = '' } = sources;
  const chosen = scopeList(configured ?? challenged ?? published?.join(' ') ?? '');
  const all = new Set([...chosen, ...scopeList(widened)]);
  // Alone it would take the place of what the authorization server would choose.
  if (all.size > 0 && configured === undefined && offered?.includes(OFFLINE)) all.add(OFFLINE);
  return [...all].sort().join(' ');
}

export function asksOffline(scopes: string): boolean {
  return scopeList(scopes).includes(OFFLINE);
}
