import { composeWorker, type WorkerParts } from './composeWorker.ts';
import type { VaultSpec } from './vaultSpec.ts';

let active: WorkerParts | undefined;

async function reset(): Promise<void> {
  const previous = active;
  active = undefined;
  await previous?.close();
}

async function execute(order: string, args: readonly unknown[]): Promise<unknown> {
  if (order === 'open') {
    active = await composeWorker(args[0] as VaultSpec);
    return;
  }
  if (order === 'ready') return;
  if (order === 'shut') return reset();
  const commands = active?.commands as unknown as Record<
    string,
    (...args: readonly unknown[]) => Promise<unknown>
  >;
  return commands[order]?.(...args);
}

process.on('message', ({ id, order, args }: { id: number; order: string; args: unknown[] }) => {
  execute(order, args).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('SIGTERM', () => {
  process.stderr.write('closing\n');
  void reset().then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
