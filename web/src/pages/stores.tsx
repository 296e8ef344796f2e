import { want } from '@/messages'

export { default } from '@/operate/stores'

want('pages')
