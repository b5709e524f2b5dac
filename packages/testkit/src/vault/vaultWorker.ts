import { composeWorker, type WorkerParts } from './composeWorker.ts';
import type { VaultSpec } from './vaultSpec.ts';

let playing: WorkerParts | undefined;

async function shut(): Promise<void> {
  const ended = playing;
  playing = undefined;
  await ended?.close();
}

async function obey(order: string, args: readonly unknown[]): Promise<unknown> {
  if (order === 'open') {
    playing = await composeWorker(args[0] as VaultSpec);
    return;
  }
  if (order === 'ready') return;
  if (order === 'shut') return shut();
  const known = playing?.orders as unknown as Record<
    string,
    (...args: readonly unknown[]) => Promise<unknown>
  >;
  return known[order]?.(...args);
}

process.on('message', ({ id, order, args }: { id: number; order: string; args: unknown[] }) => {
  obey(order, args).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('SIGTERM', () => {
  process.stderr.write('closing\n');
  void shut().then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
