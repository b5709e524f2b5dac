import type { Clock } from '@behalf/kernel';
import { isCurrent, type ChangeFeed, type UserRecord, type UserStore } from '../ports/index.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Roles } from './roles.ts';

/**
 * Whether callers' own tokens may be exchanged for a server. Who decides where it leads decides where they go: the operator
 * is trusted, and a user or an administrator of a tenant for as long as their role has CONFIGURE_OBO. Whatever is not known
 * to be so is not trusted.
 */
export interface OboTrust {
  /** Without I/O for as long as an answer may be trusted. Never rejects: no answer means no. */
  isTrusted(server: ServerSnapshot): boolean | Promise<boolean>;
  close(): void;
}

export interface OboTrustParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly roles: Pick<Roles, 'roleHas' | 'isFresh' | 'refresh'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

type Editor = Pick<UserRecord, 'tenant' | 'role' | 'disabledAt'> | null;

const MOST_EDITORS = 10_000;

export function createOboTrust({ users, roles, changes, clock }: OboTrustParts): OboTrust {
  const known = new Map<string, { readonly editor: Editor; readonly readAt: number }>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;
  const close = changes.subscribe(({ topic, id }) => {
    if (topic !== 'users') return;
    epoch += 1;
    if (id === '*') known.clear();
    else known.delete(id);
  });

  async function load(userId: string): Promise<Editor> {
    const begun = epoch;
    const readAt = clock.now();
    const editor = await users.findById(userId);
    if (begun === epoch) {
      if (known.size >= MOST_EDITORS) known.delete(known.keys().next().value ?? '');
      known.set(userId, { editor, readAt });
    }
    return editor;
  }

  function mayConfigure(editor: Editor, tenant: string): boolean {
    if (editor?.tenant !== tenant || editor.disabledAt !== null) return false;
    return roles.roleHas(tenant, editor.role, 'CONFIGURE_OBO');
  }

  async function ask(userId: string, tenant: string): Promise<boolean> {
    try {
      // What roles allowed a while ago is good enough for other calls, not for handing out tokens.
      const [editor] = await Promise.all([load(userId), roles.isFresh() ? undefined : roles.refresh()]);
      return mayConfigure(editor, tenant);
    } catch {
      return false;
    }
  }

  return {
    isTrusted({ source, tenant, secured }) {
      if (source === 'yaml') return true;
      if (!secured?.intact) return false;
      const { by } = secured;
      // An override that leaves alone what the operator decided. Of a user's server nothing is the operator's.
      if (by === null) return source === 'config';
      const entry = known.get(by);
      if (entry && roles.isFresh() && isCurrent(changes, clock.now(), entry.readAt)) {
        return mayConfigure(entry.editor, tenant);
      }
      return ask(by, tenant);
    },
    close,
  };
}
