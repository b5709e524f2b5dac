import {
  ALL_ACL_BITS,
  type SetChange,
  type SetRequest,
  type SetSteps,
  type SetView,
} from '@behalf/contracts';
import { recorded } from '../access/recorded.ts';
import { blockShelf } from '../blocks/sealedBlocks.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { stableText } from '../registry/stableText.ts';
import { findSaved, seeSaved } from '../saved/findSaved.ts';
import { setKind } from '../saved/kinds.ts';
import {
  enterSavedWrite,
  insertSaved,
  removeSaved,
  requireVersion,
  savedEvent,
  type WriteCondition,
} from '../saved/writeSaved.ts';
import type { SaveSetParts } from './parts.ts';
import { setShelf, type BlockSet } from './sealedSets.ts';
import { setView } from './viewSets.ts';

/** Saves blocks in an order. Its author has each of them; whoever runs it must have them as well. */
export function createSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  { title, description, steps }: SetRequest,
): Promise<SetView> {
  return recorded(parts.audit, savedEvent(principal, setKind, 'create', {}), async (trail) => {
    const caller = await enterSavedWrite(parts, principal);
    await requireBlocks(parts, caller, steps);
    const now = parts.clock.now();
    const set: BlockSet = {
      id: parts.random.id(),
      ...{ tenant: caller.tenant, owner: caller.userId, version: 1 },
      ...{ createdAt: now, updatedAt: now, updatedBy: caller.userId },
      ...{ title, ...(description !== undefined && { description }), steps },
    };
    trail.subject = set.id;
    await insertSaved(parts, setShelf(parts), set);
    return { result: setView({ thing: set, bits: ALL_ACL_BITS }) };
  });
}

export function changeSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  id: string,
  change: SetChange & WriteCondition,
): Promise<SetView> {
  return recorded(parts.audit, savedEvent(principal, setKind, 'change', { subject: id }), async () => {
    const caller = await enterSavedWrite(parts, principal);
    const { thing: set, bits } = await findSaved(parts, setShelf(parts), caller, id, 'EDIT');
    requireVersion(change.ifMatch, set.version);
    if (change.steps) await requireBlocks(parts, caller, change.steps);
    const next = changed(set, change);
    const names = fields.filter((name) => stableText(set[name]) !== stableText(next[name]));
    if (names.length === 0) return { result: setView({ thing: set, bits }), changed: [] };
    const stored = {
      ...next,
      ...{ version: set.version + 1, updatedAt: parts.clock.now(), updatedBy: caller.userId },
    };
    await parts.sets.replace(stored, set.version);
    return { result: setView({ thing: stored, bits }), changed: names };
  });
}

export function removeSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  id: string,
  condition: WriteCondition = {},
): Promise<void> {
  return removeSaved(parts, setShelf(parts), principal, id, condition);
}

const fields = ['title', 'description', 'steps'] as const;

function changed(set: BlockSet, { title, description, steps }: SetChange): BlockSet {
  const { description: before, ...rest } = set;
  const text = description === undefined ? before : (description ?? undefined);
  return {
    ...rest,
    ...(title !== undefined && { title }),
    ...(text !== undefined && { description: text }),
    ...(steps !== undefined && { steps }),
  };
}

/** SET_INVALID unless each step is a block of the caller's, and brings nothing to an input that the block fixes. */
async function requireBlocks(parts: SaveSetParts, caller: UserPrincipal, steps: SetSteps): Promise<void> {
  const blocks = new Map(
    await Promise.all(
      [...new Set(steps.map(({ block }) => block))].map(
        async (id) => [id, (await seeSaved(parts, blockShelf(parts), caller, id))?.thing] as const,
      ),
    ),
  );
  const errors = steps.flatMap(({ block: id, inputs }, at) => {
    const block = blocks.get(id);
    if (!block) {
      return [{ path: `steps.${at}.block`, code: 'unknown_block', message: 'is no block of yours' }];
    }
    return Object.keys(inputs)
      .filter((name) => Object.hasOwn(block.inputs, name) && block.inputs[name]?.mode === 'fixed')
      .map((name) => ({
        path: `steps.${at}.inputs.${name}`,
        code: 'input_fixed',
        message: 'is fixed by the block',
      }));
  });
  if (errors.length > 0) throw new GatewayError('SET_INVALID', { errors });
}
