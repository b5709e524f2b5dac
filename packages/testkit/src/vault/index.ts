export { createVaultPool, type VaultPool } from './vaultProcess.ts';
export type { VaultProcess } from './vaultProcess.ts';
export type { CallsReport, VaultSpec, VaultStatus, VaultStores } from './vaultSpec.ts';
export {
  createVaultProcessRig,
  type VaultBackend,
  type VaultProcessRig,
  type VaultProcessRigOptions,
} from './vaultProcessRig.ts';
