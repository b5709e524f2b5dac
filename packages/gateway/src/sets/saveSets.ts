import {
  ALL_ACL_BITS,
  type SetChange,
  type SetRequest,
  type SetSteps,
  type SetView,
} from '@behalf/contracts';
import { withAudit } from '../access/withAudit.ts';
import { getBlockCollection } from '../blocks/sealedBlocks.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { stableStringify } from '../registry/stableStringify.ts';
import { requireSaved, findVisibleSaved } from '../saved/findSaved.ts';
import { setKind } from '../saved/kinds.ts';
import {
  reauthorizeSavedWriter,
  insertSaved,
  removeSaved,
  requireVersion,
  createSavedEvent,
  type WriteCondition,
} from '../saved/writeSaved.ts';
import type { SaveSetParts } from './parts.ts';
import { getSetCollection, type BlockSet } from './sealedSets.ts';
import { toSetView } from './viewSets.ts';

/** Saves blocks in an order. Its author has each of them; whoever runs it must have them as well. */
export function createSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  { title, description, steps }: SetRequest,
): Promise<SetView> {
  return withAudit(parts.audit, createSavedEvent(principal, setKind, 'create', {}), async (details) => {
    const caller = await reauthorizeSavedWriter(parts, principal);
    await requireBlocks(parts, caller, steps);
    const now = parts.clock.now();
    const set: BlockSet = {
      id: parts.random.id(),
      ...{ tenant: caller.tenant, owner: caller.userId, version: 1 },
      ...{ createdAt: now, updatedAt: now, updatedBy: caller.userId },
      ...{ title, ...(description !== undefined && { description }), steps },
    };
    details.subject = set.id;
    await insertSaved(parts, getSetCollection(parts), set);
    return { result: toSetView({ resource: set, bits: ALL_ACL_BITS }) };
  });
}

export function changeSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  id: string,
  change: SetChange & WriteCondition,
): Promise<SetView> {
  return withAudit(parts.audit, createSavedEvent(principal, setKind, 'change', { subject: id }), async () => {
    const caller = await reauthorizeSavedWriter(parts, principal);
    const { resource: set, bits } = await requireSaved(parts, getSetCollection(parts), caller, id, 'EDIT');
    requireVersion(change.ifMatch, set.version);
    if (change.steps) await requireBlocks(parts, caller, change.steps);
    const updated = applySetChange(set, change);
    const changedNames = comparedSetFields.filter(
      (name) => stableStringify(set[name]) !== stableStringify(updated[name]),
    );
    if (changedNames.length === 0) return { result: toSetView({ resource: set, bits }), changed: [] };
    const record = {
      ...updated,
      ...{ version: set.version + 1, updatedAt: parts.clock.now(), updatedBy: caller.userId },
    };
    await parts.sets.replace(record, set.version);
    return { result: toSetView({ resource: record, bits }), changed: changedNames };
  });
}

export function removeSet(
  parts: SaveSetParts,
  principal: UserPrincipal,
  id: string,
  condition: WriteCondition = {},
): Promise<void> {
  return removeSaved(parts, getSetCollection(parts), principal, id, condition);
}

const comparedSetFields = ['title', 'description', 'steps'] as const;

function applySetChange(set: BlockSet, { title, description, steps }: SetChange): BlockSet {
  const { description: previousDescription, ...rest } = set;
  const newDescription = description === undefined ? previousDescription : (description ?? undefined);
  return {
    ...rest,
    ...(title !== undefined && { title }),
    ...(newDescription !== undefined && { description: newDescription }),
    ...(steps !== undefined && { steps }),
  };
}

/** SET_INVALID unless each step is a block of the caller's, and brings nothing to an input that the block fixes. */
async function requireBlocks(parts: SaveSetParts, caller: UserPrincipal, steps: SetSteps): Promise<void> {
  const blocks = new Map(
    await Promise.all(
      [...new Set(steps.map(({ block }) => block))].map(
        async (id) =>
          [id, (await findVisibleSaved(parts, getBlockCollection(parts), caller, id))?.resource] as const,
      ),
    ),
  );
  const errors = steps.flatMap(({ block: id, inputs }, index) => {
    const block = blocks.get(id);
    if (!block) {
      return [
        { path: `steps.${index}.block`, code: 'unknown_block', message: 'is not a block that you can use' },
      ];
    }
    return Object.keys(inputs)
      .filter((name) => Object.hasOwn(block.inputs, name) && block.inputs[name]?.mode === 'fixed')
      .map((name) => ({
        path: `steps.${index}.inputs.${name}`,
        code: 'input_fixed',
        message: 'is fixed by the block',
      }));
  });
  if (errors.length > 0) throw new GatewayError('SET_INVALID', { errors });
}
