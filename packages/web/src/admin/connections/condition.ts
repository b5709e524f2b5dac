import type { LiveServer } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { formatDuration } from '../../ui/format.ts';

const conditions = ['breaker', 'failing', 'partly', 'connecting', 'connected', 'idle'] as const;
/**
 * Condition of a server, worst first. `partly`: it works for some users and fails for others.
 * `idle`: nothing is open and nothing failed.
 */
type Condition = (typeof conditions)[number];

export const conditionTones: Readonly<Record<Condition, Tone>> = {
  breaker: 'danger',
  failing: 'danger',
  partly: 'warning',
  connecting: 'info',
  connected: 'success',
  idle: 'neutral',
};

export function toCondition(server: LiveServer): Condition {
  const { state, users, code, isBreakerOpen } = server;
  const isServing = state === 'connected' || users > 0;
  if (isBreakerOpen) return 'breaker';
  if (code !== undefined) return isServing ? 'partly' : 'failing';
  if (isServing) return 'connected';
  if (state === 'error') return 'failing';
  return state === 'connecting' ? 'connecting' : 'idle';
}

/** Sorts by condition, worst first, then by name. */
export function sortByCondition(servers: readonly LiveServer[]): LiveServer[] {
  const rank = (server: LiveServer) => conditions.indexOf(toCondition(server));
  return [...servers].sort((a, b) => rank(a) - rank(b) || (a.server < b.server ? -1 : 1));
}

/** Returns when the gateway retries a failing server. */
export function retryText(retryAt: number, now = Date.now()): string {
  const { connections } = strings.admin;
  const wait = retryAt - now;
  return wait > 0 ? connections.retryIn(formatDuration(Math.max(1_000, wait))) : connections.retryNext;
}
