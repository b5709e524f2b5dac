import { getSavedSharing, getSetCollection, shareSaved, type SaveSetParts } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { sharingRoutes } from '../../permissions/sharing.ts';
import { setRunRoutes, type SetRunRouteParts } from './setRunRoutes.ts';
import { savedSetRoutes } from './savedSetRoutes.ts';

/** Blocks in an order, and their runs. */
export function setRoutes(parts: SaveSetParts, runParts: SetRunRouteParts): Route[] {
  return [
    ...savedSetRoutes(parts),
    ...setRunRoutes(runParts),
    ...sharingRoutes({
      type: 'set',
      view: (caller, id) => getSavedSharing(parts, getSetCollection(parts), caller, id),
      share: (caller, id, request) => shareSaved(parts, getSetCollection(parts), caller, id, request),
    }),
  ];
}
