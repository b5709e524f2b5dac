import type { Env, EnvRecord } from '@behalf/contracts';
import type { Log } from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { PublicAddress } from '../http/origins.ts';
import type { Configuration } from '../runtime/configuration.ts';
import type { Disposables } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ReloadableNetwork } from '../runtime/network.ts';

/** The dependencies that all subsystems share. */
export interface ComposeContext {
  readonly env: Env;
  /** The environment variables before validation. */
  readonly record: EnvRecord;
  readonly logger: Logger;
  /** The log of the gateway package. */
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyring: Keyring;
  readonly configuration: Configuration;
  readonly primary: PrimaryStore;
  readonly coordination: CoordinationStore;
  readonly disposables: Disposables;
  readonly egress: ReloadableNetwork;
  readonly address: PublicAddress;
}
