import { adminPages } from './webPagesAdmin.ts';
import { blockPages } from './webPagesBlocks.ts';
import { chatPages } from './webPagesChat.ts';
import { gatewayPages } from './webPagesGateway.ts';
import type { ShownPage } from './webPagesScene.ts';
import { serverPages } from './webPagesServers.ts';
import { setPages } from './webPagesSets.ts';

/** Every page there is. Whoever adds one adds a row. */
export const shownPages: readonly ShownPage[] = [
  ...gatewayPages,
  ...chatPages,
  ...blockPages,
  ...setPages,
  ...serverPages,
  ...adminPages,
];

/** How people's screens differ. */
export const screens = {
  wide: { width: 1280, height: 860 },
  narrow: { width: 390, height: 844 },
} as const;
export const schemes = ['light', 'dark'] as const;
