import { want } from '@/messages'

export { default } from '@/operate/access'

want('pages')
