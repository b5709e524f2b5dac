import { median, roundToDigits } from './cells.ts';
import type { ComposedJob, OpenResult } from './composed.ts';
import { withBenchRig, type PartOptions } from './rig.ts';

const FEW_USERS = 20;
const MANY_USERS = 2_000;
const ROUNDS = 5;
const WARMUP_MS = 4_000;

/** The memory of a user who called once and is then idle. */
export async function measureIdle({ progress }: PartOptions): Promise<{
  rows: { part: string; name: string; kb_per_user: number[]; heap_kb_per_user: number[] }[];
  ratios: Record<'idle_kb_legacy' | 'idle_kb_modern', number>;
}> {
  const eras = ['legacy', 'modern'] as const;
  const costs = { legacy: [] as MemoryCost[], modern: [] as MemoryCost[] };
  for (let i = 1; i <= ROUNDS; i += 1) {
    for (const era of eras) {
      const cost = await measureCost(era);
      costs[era].push(cost);
      progress(
        `idle ${i}/${ROUNDS}: ${era} ${cost.rss_kb.toFixed(2)} KB a user, on the heap ${cost.heap_kb.toFixed(2)}`,
      );
    }
  }
  return {
    rows: eras.map((era) => ({
      part: 'idle',
      name: `${era} user connection, idle`,
      kb_per_user: costs[era].map(({ rss_kb }) => roundToDigits(rss_kb)),
      heap_kb_per_user: costs[era].map(({ heap_kb }) => roundToDigits(heap_kb)),
    })),
    ratios: {
      idle_kb_legacy: roundToDigits(median(costs.legacy.map(({ rss_kb }) => rss_kb))),
      idle_kb_modern: roundToDigits(median(costs.modern.map(({ rss_kb }) => rss_kb))),
    },
  };
}

type MemoryCost = OpenResult;

async function measureCost(era: 'legacy' | 'modern'): Promise<MemoryCost> {
  return withBenchRig(async ({ processes, upstream }) => {
    const worker = processes.startWorker('composed.ts', { flags: ['--expose-gc'] });
    const shape = { port: upstream.port, era, servers: 1, scope: 'user', concurrency: 8 } as const;
    const openUsers = (users: number) =>
      worker.runJob<OpenResult>({ ...shape, do: 'open', users, ms: 0 } satisfies ComposedJob);
    // A warm-up with few users brings compiled code and heap to their working size, so that it is not attributed to
    // users.
    await worker.runJob({ ...shape, do: 'call', users: FEW_USERS, ms: WARMUP_MS } satisfies ComposedJob);
    const fewUsersCost = await openUsers(FEW_USERS);
    const manyUsersCost = await openUsers(MANY_USERS);
    const perUser = (key: keyof OpenResult) =>
      (manyUsersCost[key] - fewUsersCost[key]) / (MANY_USERS - FEW_USERS);
    return { rss_kb: perUser('rss_kb'), heap_kb: perUser('heap_kb') };
  });
}
