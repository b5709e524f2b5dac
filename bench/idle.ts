import { median, round } from './cells.ts';
import type { ComposedJob, OpenResult } from './composed.ts';
import { onStage, type PartOptions } from './stage.ts';

const FEW = 20;
const MANY = 2_000;
const ROUNDS = 5;
const WARM_MS = 4_000;

/** What a user costs who called once and then does nothing. */
export async function measureIdle({ progress }: PartOptions): Promise<{
  rows: { part: string; name: string; kb_per_user: number[]; heap_kb_per_user: number[] }[];
  ratios: Record<'idle_kb_legacy' | 'idle_kb_modern', number>;
}> {
  const eras = ['legacy', 'modern'] as const;
  const measured = { legacy: [] as Cost[], modern: [] as Cost[] };
  for (let i = 1; i <= ROUNDS; i += 1) {
    for (const era of eras) {
      const cost = await costOf(era);
      measured[era].push(cost);
      progress(
        `idle ${i}/${ROUNDS}: ${era} ${cost.rss_kb.toFixed(2)} KB a user, on the heap ${cost.heap_kb.toFixed(2)}`,
      );
    }
  }
  return {
    rows: eras.map((era) => ({
      part: 'idle',
      name: `${era} user connection, idle`,
      kb_per_user: measured[era].map(({ rss_kb }) => round(rss_kb)),
      heap_kb_per_user: measured[era].map(({ heap_kb }) => round(heap_kb)),
    })),
    ratios: {
      idle_kb_legacy: round(median(measured.legacy.map(({ rss_kb }) => rss_kb))),
      idle_kb_modern: round(median(measured.modern.map(({ rss_kb }) => rss_kb))),
    },
  };
}

type Cost = OpenResult;

async function costOf(era: 'legacy' | 'modern'): Promise<Cost> {
  return onStage(async ({ processes, upstream }) => {
    const worker = processes.worker('composed.ts', { flags: ['--expose-gc'] });
    const shape = { port: upstream.port, era, servers: 1, scope: 'user', concurrency: 8 } as const;
    const open = (users: number) =>
      worker.ask<OpenResult>({ ...shape, do: 'open', users, ms: 0 } satisfies ComposedJob);
    // Twenty users long enough for the compiler and for a heap of its working size: that is nobody's own cost.
    await worker.ask({ ...shape, do: 'call', users: FEW, ms: WARM_MS } satisfies ComposedJob);
    const few = await open(FEW);
    const many = await open(MANY);
    const perUser = (key: keyof OpenResult) => (many[key] - few[key]) / (MANY - FEW);
    return { rss_kb: perUser('rss_kb'), heap_kb: perUser('heap_kb') };
  });
}
