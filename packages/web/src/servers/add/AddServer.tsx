import type { CreatedServerView } from '@behalf/contracts';
import { useState } from 'react';
import { ServerDialog } from '../form/ServerDialog.tsx';
import { DiscoverDialog } from './DiscoverDialog.tsx';
import type { Begun } from './foundForm.ts';

/** A new server: found by its address first, or entered by hand; then its details, and saved. */
export function AddServer({
  isByHand,
  mayCreate,
  onClose,
  onSaved,
}: {
  readonly isByHand: boolean;
  /** False once the right to do this was taken away. */
  readonly mayCreate: boolean;
  readonly onClose: () => void;
  readonly onSaved: (view: CreatedServerView) => void;
}) {
  const [begun, begin] = useState<Begun | undefined>();
  if (isByHand || begun) {
    return <ServerDialog {...(begun && { begun })} mayEdit={mayCreate} onClose={onClose} onSaved={onSaved} />;
  }
  return <DiscoverDialog mayCreate={mayCreate} onClose={onClose} onFound={begin} />;
}
