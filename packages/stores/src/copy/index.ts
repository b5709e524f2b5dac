export { copyStore, CopyError, type CopyProgress } from './copyStore.ts';
export { rotateStore, RotationError, type Rotation } from './rotateStore.ts';
