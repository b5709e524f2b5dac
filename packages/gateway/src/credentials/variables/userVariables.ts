import type { Diagnostic } from '@behalf/contracts';
import type { Clock, Keyring } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import {
  type ChangeFeed,
  type UserVariableRecord,
  type UserVariableStore,
  toVariableSealContext,
  variableId,
} from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { type ServerSnapshot, listDeclaredVariables } from '../../servers/definition.ts';
import { variablesKey } from './variableCache.ts';

interface UserVariableParts {
  readonly store: UserVariableStore;
  readonly keyring: Keyring;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** The values that users enter for servers. They go in and are used; nobody reads them back. */
export interface UserVariables {
  /** Of each declared name, whether this user has set it. Blanks alone are not a value. */
  readSetFlags(server: ServerSnapshot, principal: UserPrincipal): Promise<Record<string, boolean>>;
  /** All or none; an empty value removes. Only names that the server declares. */
  set(
    server: ServerSnapshot,
    principal: UserPrincipal,
    values: Readonly<Record<string, string>>,
  ): Promise<void>;
  removeAll(server: ServerSnapshot, principal: UserPrincipal): Promise<void>;
}

/** Longer than any key or certificate; short enough that a thousand users do not fill the memory. */
const MAX_VALUE_LENGTH = 16_384;

export function createUserVariables({ store, keyring, changes, clock }: UserVariableParts): UserVariables {
  const toOwner = ({ id }: ServerSnapshot, { tenant, userId }: UserPrincipal) => ({
    tenant,
    userId,
    serverId: id,
  });
  const publishChange = (server: ServerSnapshot, principal: UserPrincipal) =>
    changes.publish({ topic: 'variables', id: variablesKey(toOwner(server, principal)) });

  return {
    async readSetFlags(server, principal) {
      const records = await store.list(principal.tenant, principal.userId, server.id);
      const namesWithValue = new Set(
        records
          .filter((record) => !isBlank(keyring.open(record.valueSealed, toVariableSealContext(record))))
          .map(({ name }) => name),
      );
      return Object.fromEntries(
        listDeclaredVariables(server.settings).map((name) => [name, namesWithValue.has(name)]),
      );
    },
    async set(server, principal, values) {
      const errors = validateValues(values, listDeclaredVariables(server.settings));
      if (errors.length > 0) throw new GatewayError('REQUEST_INVALID', { errors });
      const owner = toOwner(server, principal);
      const records: UserVariableRecord[] = [];
      const clearedNames: string[] = [];
      for (const [name, value] of Object.entries(values)) {
        const key = { ...owner, name };
        if (isBlank(value)) clearedNames.push(name);
        else {
          const valueSealed = keyring.seal(value, toVariableSealContext(key));
          records.push({ id: variableId(key), ...key, valueSealed, updatedAt: clock.now() });
        }
      }
      await store.put(records);
      for (const name of clearedNames) await store.remove(owner.tenant, owner.userId, owner.serverId, name);
      await publishChange(server, principal);
    },
    async removeAll(server, principal) {
      await store.removeAll(principal.tenant, principal.userId, server.id);
      await publishChange(server, principal);
    },
  };
}

export function isBlank(value: string): boolean {
  return value.trim() === '';
}

function validateValues(values: Readonly<Record<string, string>>, declared: readonly string[]): Diagnostic[] {
  return Object.entries(values).flatMap(([name, value]): Diagnostic[] => {
    // Reserved whatever a definition says: such a name would stand in for the identity of the user.
    if (name.toUpperCase().startsWith('LIBRECHAT_')) {
      return [{ path: name, code: 'variable_reserved', message: 'is a reserved name' }];
    }
    if (!declared.includes(name)) {
      const suggestion =
        declared.length > 0 ? `use ${declared.join(', ')}` : 'this server declares no variables';
      return [
        { path: name, code: 'variable_undeclared', message: 'is not declared by the server', suggestion },
      ];
    }
    if (value.length > MAX_VALUE_LENGTH) {
      return [{ path: name, code: 'too_long', message: `is longer than ${MAX_VALUE_LENGTH} characters` }];
    }
    return [];
  });
}
