import { StatsQuery, type StatsView } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { isOperator } from '../../http/authentication.ts';
import { parseBody } from '../../http/request.ts';
import { type Route, adminRoute } from '../../http/route.ts';
import {
  type ExchangeStats,
  LATENCY_BUCKETS,
  type ObservedCall,
  type RefreshStats,
  bucketOf,
  quantile,
} from './counters.ts';

interface StatsParts {
  readonly history: Pick<CallHistory, 'read'>;
  readonly exchanges: Pick<ExchangeStats, 'outcomes' | 'requests'>;
  readonly refreshes: Pick<RefreshStats, 'outcomes'>;
  /** Names this process. */
  readonly replica: string;
}

/** What this process counted of the caller's own tenant; of all tenants together for operators alone. */
export function statsRoute({ history, exchanges, refreshes, replica }: StatsParts): Route {
  return adminRoute('get', '/api/admin/stats', (req, res, caller) => {
    const { range } = parseBody(req.query, StatsQuery);
    const view: StatsView = {
      replica,
      range,
      ...history.read(caller.tenant, range),
      ...(isOperator(caller) && {
        exchanges: { requests: exchanges.requests, outcomes: Object.fromEntries(exchanges.outcomes) },
        refreshes: { outcomes: Object.fromEntries(refreshes.outcomes) },
      }),
    };
    res.json(view);
  });
}

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

interface Period {
  readonly slots: number;
  readonly slotMs: number;
}

/** What happened in each slot of a period, the oldest first. */
interface RingView {
  readonly calls: number[];
  readonly errors: number[];
  /** Milliseconds; null where there was no call. */
  readonly p50: (number | null)[];
  readonly p95: (number | null)[];
}

/** Calls of the last hour or day in slots of equal length. Its size does not grow. */
interface CallRing {
  add(now: number, seconds: number, isError: boolean): void;
  /** Null when there was no call in all of it. */
  read(now: number): RingView | null;
}

/** The histogram, and the errors behind it. */
const SLOT_WIDTH = LATENCY_BUCKETS + 1;

function createCallRing({ slots, slotMs }: Period): CallRing {
  const counts = new Uint32Array(slots * SLOT_WIDTH);
  /** Which slot since the beginning of time stands in each place: one that comes round again is emptied when it is used. */
  const slotStamps = new Float64Array(slots).fill(-1);

  function viewOf(slot: number): Uint32Array | undefined {
    const slotIndex = slot % slots;
    return slotStamps[slotIndex] === slot
      ? counts.subarray(slotIndex * SLOT_WIDTH, (slotIndex + 1) * SLOT_WIDTH)
      : undefined;
  }

  return {
    add(now, seconds, isError) {
      const slot = Math.floor(now / slotMs);
      const slotIndex = slot % slots;
      const start = slotIndex * SLOT_WIDTH;
      if (slotStamps[slotIndex] !== slot) {
        counts.fill(0, start, start + SLOT_WIDTH);
        slotStamps[slotIndex] = slot;
      }
      const bucket = start + bucketOf(seconds);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      const errors = start + LATENCY_BUCKETS;
      if (isError) counts[errors] = (counts[errors] ?? 0) + 1;
    },
    read(now) {
      const view: RingView = { calls: [], errors: [], p50: [], p95: [] };
      const last = Math.floor(now / slotMs);
      for (let slot = last - slots + 1; slot <= last; slot += 1) {
        const slotCounts = viewOf(slot);
        const histogram = slotCounts?.subarray(0, LATENCY_BUCKETS);
        view.calls.push(histogram?.reduce((sum, count) => sum + count, 0) ?? 0);
        view.errors.push(slotCounts?.[LATENCY_BUCKETS] ?? 0);
        view.p50.push(histogram ? milliseconds(quantile(0.5, histogram)) : null);
        view.p95.push(histogram ? milliseconds(quantile(0.95, histogram)) : null);
      }
      return view.calls.some((calls) => calls > 0) ? view : null;
    },
  };
}

/** To a tenth: they are estimates. */
function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 10_000) / 10;
}
