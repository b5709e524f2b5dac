import { getSavedSharing, getSetCollection, shareSaved, type SaveSetParts } from '@behalf/gateway';
import type { Route } from '../../../http.ts';
import { sharingRoutes } from '../../permissions/sharing.ts';
import { runningSetRoutes, type RunningParts } from './running.ts';
import { savingSetRoutes } from './saving.ts';

/** Blocks in an order, and their runs. */
export function setRoutes(parts: SaveSetParts, running: RunningParts): Route[] {
  return [
    ...savingSetRoutes(parts),
    ...runningSetRoutes(running),
    ...sharingRoutes({
      type: 'set',
      view: (caller, id) => getSavedSharing(parts, getSetCollection(parts), caller, id),
      share: (caller, id, request) => shareSaved(parts, getSetCollection(parts), caller, id, request),
    }),
  ];
}
