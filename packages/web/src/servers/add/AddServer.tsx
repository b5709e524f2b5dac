import type { CreatedServerView } from '@behalf/contracts';
import { useState } from 'react';
import { ServerDialog } from '../form/ServerDialog.tsx';
import { DiscoverDialog } from './DiscoverDialog.tsx';
import type { InitialForm } from './initialForm.ts';

/** A new server: found by its address first, or entered by hand; then its details, and saved. */
export function AddServer({
  isManual,
  canCreate,
  onClose,
  onSaved,
}: {
  readonly isManual: boolean;
  /** False once the right to do this was taken away. */
  readonly canCreate: boolean;
  readonly onClose: () => void;
  readonly onSaved: (view: CreatedServerView) => void;
}) {
  const [initial, setInitial] = useState<InitialForm | undefined>();
  if (isManual || initial) {
    return (
      <ServerDialog {...(initial && { initial })} canEdit={canCreate} onClose={onClose} onSaved={onSaved} />
    );
  }
  return <DiscoverDialog canCreate={canCreate} onClose={onClose} onFound={setInitial} />;
}
