import { startIdleProcess, type IdleProcess, type VaultProcess } from './vaultProcess.ts';
import type { VaultSpec } from './vaultSpec.ts';

/** Processes that outlive a stage: loading everything takes them longer than most tests take. */
export interface VaultPool {
  /** Starts so many ahead, and waits until they can be used. */
  prepare(count: number): Promise<void>;
  open(spec: VaultSpec): Promise<VaultProcess>;
  /** Ends the part of a process; what has died, or does not end it, is not used again. */
  release(process: VaultProcess): Promise<void>;
  close(): Promise<void>;
}

export function createVaultPool(): VaultPool {
  const idle: IdleProcess[] = [];
  const busy = new Map<VaultProcess, IdleProcess>();
  return {
    async prepare(count) {
      const started = Array.from({ length: count }, () => startIdleProcess());
      idle.push(...started);
      await Promise.all(started.map((each) => each.ready()));
    },
    async open(spec) {
      const idleProcess = idle.pop() ?? startIdleProcess();
      const process = await idleProcess.open(spec);
      busy.set(process, idleProcess);
      return process;
    },
    async release(process) {
      const idleProcess = busy.get(process);
      busy.delete(process);
      // One that was frozen must wake to hear that it is over.
      process.thaw();
      // Another one in its place: it loads while the test goes on.
      if (idleProcess) idle.unshift((await idleProcess.reset()) ? idleProcess : startIdleProcess());
    },
    async close() {
      await Promise.all([...idle.splice(0), ...busy.values()].map((each) => each.kill()));
      busy.clear();
    },
  };
}
