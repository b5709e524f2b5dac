import {
  getBlockCollection,
  getSavedSharing,
  shareSaved,
  type RunBlockParts,
  type SaveBlockParts,
} from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import type { ServerResponder } from '../serverResponder.ts';
import { sharingRoutes } from '../../permissions/sharing.ts';
import { changeBlockRoute } from './changeBlock.ts';
import { checkBlocksRoute } from './checkBlocks.ts';
import { createBlockRoute } from './createBlock.ts';
import { listBlocksRoute } from './listBlocks.ts';
import { removeBlockRoute } from './removeBlock.ts';
import { runBlockRoute } from './runBlock.ts';
import { viewBlockRoute } from './viewBlock.ts';

/** Tools that people saved with inputs. Words come before `:id`: the first path that fits is taken. */
export function blockRoutes(parts: SaveBlockParts & RunBlockParts, respond: ServerResponder): Route[] {
  return [
    listBlocksRoute(parts),
    createBlockRoute(parts),
    checkBlocksRoute(parts),
    viewBlockRoute(parts),
    changeBlockRoute(parts),
    removeBlockRoute(parts),
    runBlockRoute(parts, respond),
    ...sharingRoutes({
      type: 'block',
      view: (caller, id) => getSavedSharing(parts, getBlockCollection(parts), caller, id),
      share: (caller, id, request) => shareSaved(parts, getBlockCollection(parts), caller, id, request),
    }),
  ];
}
