import { StatsQuery, type StatsView } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { isOperator } from '../../http/authentication.ts';
import { parseBody } from '../../http/request.ts';
import { type Route, adminRoute } from '../../http/route.ts';
import type { ExchangeStats, RefreshStats } from './counters.ts';

interface StatsParts {
  readonly history: Pick<CallHistory, 'read'>;
  readonly exchanges: Pick<ExchangeStats, 'outcomes' | 'requests'>;
  readonly refreshes: Pick<RefreshStats, 'outcomes'>;
  /** Identifies this process. */
  readonly replica: string;
}

/** Counts of this process for the caller's tenant. Operators also see the counts of all tenants together. */
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
  /** Servers per tenant with an own series. All others share one series. */
  readonly maxPerTenant: number;
  /** Series of all tenants. Each needs about 10 kB. */
  readonly maxTotal: number;
}

const defaultLimits: HistoryLimits = { maxPerTenant: 100, maxTotal: 1_000 };

/** The shared series of a tenant's servers beyond `maxPerTenant`. */
export const OTHER_SERVERS = '(others)';

/** Outcomes that do not count as errors. */
const nonErrorOutcomes: ReadonlySet<string> = new Set(['ok', 'cancelled', 'MCP_APPROVAL_REQUIRED']);

/** A finished request to a server. `outcome`: `ok`, `tool_error`, `cancelled`, or the error code that the caller received. */
export interface ObservedCall {
  /** The caller's tenant. Not a metrics label: metrics do not distinguish tenants. */
  readonly tenant: string;
  readonly server: string;
  readonly door: string;
  readonly outcome: string;
  readonly seconds: number;
}

/** Calls, errors and durations of the last hour and day per tenant and server, in the memory of this process. */
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
  /** All series of the tenant are in use until this time, so that no search for an idle one is needed before. */
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

  /** Whether the tenant can have one more series. May remove a series without calls in the last day. */
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

  /** The series of a server without one: a new series, or the shared one. */
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

/** One entry per slot of the period, the oldest first. */
interface RingView {
  readonly calls: number[];
  readonly errors: number[];
  /** Milliseconds; null for a slot without calls. */
  readonly p50: (number | null)[];
  readonly p95: (number | null)[];
}

/** A ring buffer of equal time slots. Its size is constant. */
interface CallRing {
  add(now: number, seconds: number, isError: boolean): void;
  /** Null if the period has no calls. */
  read(now: number): RingView | null;
}

/** Upper bounds of the latency buckets in seconds. The last bucket has no upper bound. */
export const latencyBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export const LATENCY_BUCKETS = latencyBounds.length + 1;

/** Per slot: the latency histogram, then the number of errors. */
const SLOT_WIDTH = LATENCY_BUCKETS + 1;

function createCallRing({ slots, slotMs }: Period): CallRing {
  const counts = new Uint32Array(slots * SLOT_WIDTH);
  /** The absolute slot number at each index. An index with an older number is cleared before it is used again. */
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

/** Rounded to a tenth of a millisecond, because quantiles are estimates. */
function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 10_000) / 10;
}

export function bucketOf(seconds: number): number {
  let bucket = 0;
  while (bucket < latencyBounds.length && seconds > (latencyBounds[bucket] ?? Infinity)) bucket += 1;
  return bucket;
}

/**
 * Estimates a quantile in seconds by linear interpolation within its bucket. A quantile in the last bucket is reported as the
 * last bound. Null without observations.
 */
export function quantile(share: number, counts: Uint32Array): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [bucket, upper] of latencyBounds.entries()) {
    const count = counts[bucket] ?? 0;
    if (count > 0 && below + count >= rank) {
      const lower = latencyBounds[bucket - 1] ?? 0;
      return lower + (upper - lower) * ((rank - below) / count);
    }
    below += count;
  }
  return latencyBounds.at(-1) ?? null;
}
