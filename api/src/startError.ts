import { StorageFormatError, StoreUnavailableError, type StoreTargets } from '@behalf/stores/open';
import { InvalidConfigurationError } from './configuration.ts';

/** sysexits.h: a configuration that cannot run, and a hindrance that passes by itself. */
export const EXIT_CONFIG = 78;
export const EXIT_TRY_LATER = 75;

/** The gateway cannot start, and the message says what to do. No stack is of use to who reads it. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly exitCode: number;
  constructor(message: string, exitCode: number, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** A step that fails because of what the operator wrote: the YAML, a key file, a certificate. */
export function runConfigurationStep<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof InvalidConfigurationError) throw new StartError(error.message, EXIT_CONFIG);
    throw new StartError(messageOf(error), EXIT_CONFIG, error);
  }
}

/** A step that needs the store: one that is away may come back, one that cannot be used needs a person. */
export async function runStoreStep<T>(
  { mongoUri, dataDir }: StoreTargets,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const location = mongoUri === undefined ? `the database in ${dataDir}` : 'the MongoDB of MONGO_URI';
    if (error instanceof StoreUnavailableError) {
      throw new StartError(
        `No response from ${location}. Check that it is running and reachable, then start again.`,
        EXIT_TRY_LATER,
        error,
      );
    }
    throw new StartError(storeErrorMessage(location, error), EXIT_CONFIG, error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A refused storage format names the store itself. */
function storeErrorMessage(where: string, error: unknown): string {
  if (error instanceof StorageFormatError) return error.message;
  return `${where} cannot be used: ${messageOf(error)}`;
}
