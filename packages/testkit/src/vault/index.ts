export { createVaultPool, type VaultPool } from './vaultPool.ts';
export type { VaultProcess } from './vaultProcess.ts';
export type { CallsReport, VaultSpec, VaultStatus, VaultStores } from './vaultSpec.ts';
export {
  createVaultStage,
  type VaultBackend,
  type VaultStage,
  type VaultStageOptions,
} from './vaultStage.ts';
