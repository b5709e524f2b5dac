import type { StatsView } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { createCallRing, type CallRing, type Period } from './callRing.ts';
import type { Observed } from './callStats.ts';

export type Range = StatsView['range'];

const MINUTE_MS = 60_000;
const periods: Readonly<Record<Range, Period>> = {
  hour: { slots: 60, slotMs: MINUTE_MS },
  day: { slots: 96, slotMs: 15 * MINUTE_MS },
};
const DAY_MS = periods.day.slots * periods.day.slotMs;

export interface HistoryLimits {
  /** Servers of one tenant that are told apart; the others are counted together. */
  readonly perTenant: number;
  /** Of all tenants together. About 10 kB each. */
  readonly total: number;
}

const defaultLimits: HistoryLimits = { perTenant: 100, total: 1_000 };

/** Where a tenant's servers are counted that are too many to be told apart. */
export const OTHERS = '(others)';

/** Ended neither well nor badly: the caller left, or is asked first. */
const notErrors: ReadonlySet<string> = new Set(['ok', 'cancelled', 'MCP_APPROVAL_REQUIRED']);

/** Calls, errors and durations of the last hour and day, for each tenant and server, in this process alone. */
export interface CallHistory {
  observe(call: Observed): void;
  read(tenant: string, range: Range): Pick<StatsView, 'from' | 'bucketMs' | 'servers'>;
}

interface Series {
  readonly rings: Readonly<Record<Range, CallRing>>;
  usedAt: number;
}

interface Tenant {
  readonly series: Map<string, Series>;
  /** While there is no room: before this moment nobody needs to look for some. */
  fullUntil: number;
}

export function createCallHistory(parts: { clock: Clock; limits?: HistoryLimits }): CallHistory {
  const { clock, limits = defaultLimits } = parts;
  const tenants = new Map<string, Tenant>();
  let total = 0;

  function tenantOf(name: string): Tenant {
    const known = tenants.get(name) ?? { series: new Map<string, Series>(), fullUntil: 0 };
    tenants.set(name, known);
    return known;
  }

  function forget({ series }: Tenant, server: string): void {
    if (series.delete(server)) total -= 1;
  }

  /** Whether one more server of this tenant can be told apart, if need be in the place of one that shows nothing any more. */
  function hasRoom(tenant: Tenant, now: number): boolean {
    if (tenant.series.size < limits.perTenant) return true;
    if (now < tenant.fullUntil) return false;
    const oldest = quietest(tenant.series);
    tenant.fullUntil = (oldest?.usedAt ?? now) + DAY_MS;
    if (!oldest || now < tenant.fullUntil) return false;
    forget(tenant, oldest.server);
    return true;
  }

  function makeRoomForAll(): void {
    let found: { tenant: Tenant; server: string; usedAt: number } | undefined;
    for (const [name, tenant] of tenants) {
      const oldest = quietest(tenant.series);
      if (!oldest) tenants.delete(name);
      else if (!found || oldest.usedAt < found.usedAt) found = { tenant, ...oldest };
    }
    if (found) forget(found.tenant, found.server);
  }

  /** Of a server that was not called before, or not told apart. */
  function begin(name: string, wanted: string, now: number): Series {
    const known = tenantOf(name);
    const server = hasRoom(known, now) ? wanted : OTHERS;
    const others = known.series.get(server);
    if (others) return others;
    if (total >= limits.total) makeRoomForAll();
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
      const series = tenants.get(tenant)?.series.get(server) ?? begin(tenant, server, now);
      const isError = !notErrors.has(outcome);
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

function quietest(series: ReadonlyMap<string, Series>): { server: string; usedAt: number } | undefined {
  let found: { server: string; usedAt: number } | undefined;
  for (const [server, { usedAt }] of series) {
    if (!found || usedAt < found.usedAt) found = { server, usedAt };
  }
  return found;
}
