import type { StatsView } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { createCallRing, type CallRing, type Period } from './callRing.ts';
import type { ObservedCall } from './callStats.ts';

export type HistoryRange = StatsView['range'];

const MINUTE_MS = 60_000;
const periods: Readonly<Record<HistoryRange, Period>> = {
  hour: { slots: 60, slotMs: MINUTE_MS },
  day: { slots: 96, slotMs: 15 * MINUTE_MS },
};
const DAY_MS = periods.day.slots * periods.day.slotMs;

export interface HistoryLimits {
  /** Servers of one tenant that are told apart; the others are counted together. */
  readonly maxPerTenant: number;
  /** Of all tenants together. About 10 kB each. */
  readonly maxTotal: number;
}

const defaultLimits: HistoryLimits = { maxPerTenant: 100, maxTotal: 1_000 };

/** Where a tenant's servers are counted that are too many to be told apart. */
export const OTHER_SERVERS = '(others)';

/** Ended neither well nor badly: the caller left, or is asked first. */
const nonErrorOutcomes: ReadonlySet<string> = new Set(['ok', 'cancelled', 'MCP_APPROVAL_REQUIRED']);

/** Calls, errors and durations of the last hour and day, for each tenant and server, in this process alone. */
export interface CallHistory {
  observe(call: ObservedCall): void;
  read(tenant: string, range: HistoryRange): Pick<StatsView, 'from' | 'bucketMs' | 'servers'>;
}

interface Series {
  readonly rings: Readonly<Record<HistoryRange, CallRing>>;
  usedAt: number;
}

interface TenantHistory {
  readonly series: Map<string, Series>;
  /** While there is no room: before this moment nobody needs to look for some. */
  fullUntil: number;
}

export function createCallHistory(parts: { clock: Clock; limits?: HistoryLimits }): CallHistory {
  const { clock, limits = defaultLimits } = parts;
  const tenants = new Map<string, TenantHistory>();
  let total = 0;

  function tenantOf(name: string): TenantHistory {
    const tenantHistory = tenants.get(name) ?? { series: new Map<string, Series>(), fullUntil: 0 };
    tenants.set(name, tenantHistory);
    return tenantHistory;
  }

  function removeSeries({ series }: TenantHistory, server: string): void {
    if (series.delete(server)) total -= 1;
  }

  /** Whether one more server of this tenant can be told apart, if need be in the place of one that shows nothing any more. */
  function ensureCapacity(tenant: TenantHistory, now: number): boolean {
    if (tenant.series.size < limits.maxPerTenant) return true;
    if (now < tenant.fullUntil) return false;
    const oldest = findLeastRecentlyUsed(tenant.series);
    tenant.fullUntil = (oldest?.usedAt ?? now) + DAY_MS;
    if (!oldest || now < tenant.fullUntil) return false;
    removeSeries(tenant, oldest.server);
    return true;
  }

  function evictOldest(): void {
    let candidate: { tenant: TenantHistory; server: string; usedAt: number } | undefined;
    for (const [name, tenant] of tenants) {
      const oldest = findLeastRecentlyUsed(tenant.series);
      if (!oldest) tenants.delete(name);
      else if (!candidate || oldest.usedAt < candidate.usedAt) candidate = { tenant, ...oldest };
    }
    if (candidate) removeSeries(candidate.tenant, candidate.server);
  }

  /** Of a server that was not called before, or not told apart. */
  function startSeries(name: string, serverName: string, now: number): Series {
    const tenantHistory = tenantOf(name);
    const server = ensureCapacity(tenantHistory, now) ? serverName : OTHER_SERVERS;
    const existing = tenantHistory.series.get(server);
    if (existing) return existing;
    if (total >= limits.maxTotal) evictOldest();
    const series: Series = {
      rings: { hour: createCallRing(periods.hour), day: createCallRing(periods.day) },
      usedAt: now,
    };
    tenantOf(name).series.set(server, series);
    total += 1;
    return series;
  }

  return {
    observe({ tenant, server, outcome, seconds }) {
      const now = clock.now();
      const series = tenants.get(tenant)?.series.get(server) ?? startSeries(tenant, server, now);
      const isError = !nonErrorOutcomes.has(outcome);
      series.usedAt = now;
      series.rings.hour.add(now, seconds, isError);
      series.rings.day.add(now, seconds, isError);
    },
    read(tenant, range) {
      const now = clock.now();
      const { slots, slotMs } = periods[range];
      const servers = [...(tenants.get(tenant)?.series ?? [])].flatMap(([server, { rings }]) => {
        const view = rings[range].read(now);
        return view ? [{ server, ...view }] : [];
      });
      return {
        from: (Math.floor(now / slotMs) - slots + 1) * slotMs,
        bucketMs: slotMs,
        servers: servers.sort((a, b) => (a.server < b.server ? -1 : 1)),
      };
    },
  };
}

function findLeastRecentlyUsed(
  series: ReadonlyMap<string, Series>,
): { server: string; usedAt: number } | undefined {
  let candidate: { server: string; usedAt: number } | undefined;
  for (const [server, { usedAt }] of series) {
    if (!candidate || usedAt < candidate.usedAt) candidate = { server, usedAt };
  }
  return candidate;
}
