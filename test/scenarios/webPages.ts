import { adminPageCases } from './webPagesAdmin.ts';
import { blockPageCases } from './webPagesBlocks.ts';
import { chatPageCases } from './webPagesChat.ts';
import { gatewayPageCases } from './webPagesGateway.ts';
import type { PageCase } from './webPagesRig.ts';
import { serverPageCases } from './webPagesServers.ts';
import { setPageCases } from './webPagesSets.ts';

/** Every page there is. Whoever adds one adds a row. */
export const pageCases: readonly PageCase[] = [
  ...gatewayPageCases,
  ...chatPageCases,
  ...blockPageCases,
  ...setPageCases,
  ...serverPageCases,
  ...adminPageCases,
];

/** How people's screens differ. */
export const screenSizes = {
  wide: { width: 1280, height: 860 },
  narrow: { width: 390, height: 844 },
} as const;
export const colorSchemes = ['light', 'dark'] as const;
